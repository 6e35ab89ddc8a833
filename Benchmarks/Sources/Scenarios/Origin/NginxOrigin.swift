/// nginx as the origin: one process on a free port, with its own files in a temporary folder.
enum NginxOrigin {
    /// Returns the path of the installed program, or `nil` if there is none.
    static func executable() -> String? {
        Tool.installed("nginx")
    }

    static func serving<Result: Sendable>(
        _ folder: FixtureFolder, nginx: String, _ body: (Origin) async throws -> Result
    ) async throws -> Result {
        try await TemporaryFolder.with("nginx") { prefix in
            let origin = Origin(port: try LoopbackSocket.freePort())
            let settings = configuration(port: origin.port, folder: folder.path)
            try File.write(Array(settings.utf8), to: prefix + "/nginx.conf")
            return try await ChildProcess.running(
                nginx, ["-p", prefix, "-c", "nginx.conf", "-e", "error.log"]
            ) { _ in
                try await waitUntilListening(origin, log: prefix + "/error.log")
                return try await body(origin)
            }
        }
    }

    private static func waitUntilListening(_ origin: Origin, log: String) async throws {
        let deadline = ContinuousClock.now + .seconds(10)
        while !LoopbackSocket.isListening(port: origin.port) {
            guard ContinuousClock.now < deadline else {
                let reason = (try? File.read(log)).map { String(decoding: $0, as: UTF8.self) } ?? ""
                throw OriginError(description: "nginx does not start: \(reason)")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Returns the configuration for a single process in the foreground.
    ///
    /// It writes nothing to disk for a request and keeps idle connections open for ten minutes.
    static func configuration(port: UInt16, folder: String) -> String {
        """
        daemon off;
        master_process off;
        pid nginx.pid;
        worker_rlimit_nofile 8192;
        events { worker_connections 8192; }
        http {
            access_log off;
            default_type image/jpeg;
            sendfile on;
            tcp_nodelay on;
            keepalive_timeout 600s;
            keepalive_requests 1000000000;
            open_file_cache max=1000 inactive=600s;
            open_file_cache_valid 600s;
            client_body_temp_path body;
            proxy_temp_path proxy;
            fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi;
            scgi_temp_path scgi;
            server {
                listen 127.0.0.1:\(port) backlog=4096;
                root "\(folder)";
                location = /\(Origin.statusName) { stub_status; }
                # Responses that a cache may use for an hour.
                location ~ ^/fresh/(?<file>.*)$ {
                    alias "\(folder)/$file";
                    expires 1h;
                }
                # Without small pieces, nginx sends the bytes of a whole second at once.
                location ~ ^/at/(?<rate>[0-9]+)/(?<name>.*)$ {
                    alias "\(folder)/$name";
                    limit_rate $rate;
                    sendfile_max_chunk 4k;
                }
            }
        }

        """
    }
}
