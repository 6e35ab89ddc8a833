/// nginx as the origin: one process on a free port, with its own files in a temporary folder.
enum NginxOrigin {
    /// Returns the path of the installed program, or `nil` if there is none.
    static func executable() -> String? {
        Tool.installed("nginx")
    }

    static func serving<Result: Sendable>(
        _ folder: FixtureFolder, nginx: String, _ body: (Origin) async throws -> Result
    ) async throws -> Result {
        let origin = Origin(port: try LoopbackSocket.freePort())
        let server = server(port: origin.port, folder: folder.path)
        return try await running(configuration(servers: server), nginx: nginx, ports: [origin.port]) {
            try await body(origin)
        }
    }

    /// Runs `body` while nginx runs with this configuration and listens on `ports`.
    static func running<Result: Sendable>(
        _ configuration: String, nginx: String, ports: [UInt16], _ body: () async throws -> Result
    ) async throws -> Result {
        try await TemporaryFolder.with("nginx") { prefix in
            try File.write(Array(configuration.utf8), to: prefix + "/nginx.conf")
            return try await ChildProcess.running(
                nginx, ["-p", prefix, "-c", "nginx.conf", "-e", "error.log"]
            ) { _ in
                for port in ports { try await waitUntilListening(port, log: prefix + "/error.log") }
                return try await body()
            }
        }
    }

    private static func waitUntilListening(_ port: UInt16, log: String) async throws {
        let deadline = ContinuousClock.now + .seconds(10)
        while !LoopbackSocket.isListening(port: port) {
            guard ContinuousClock.now < deadline else {
                let reason = (try? File.read(log)).map { String(decoding: $0, as: UTF8.self) } ?? ""
                throw OriginError(description: "nginx does not start: \(reason)")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Returns the configuration for a single process in the foreground.
    ///
    /// It writes nothing to disk for a request, unless there is a `log`, and keeps idle connections open for ten
    /// minutes.
    static func configuration(servers: String, log: String? = nil) -> String {
        """
        daemon off;
        master_process off;
        pid nginx.pid;
        worker_rlimit_nofile 8192;
        events { worker_connections 8192; }
        http {
            log_format brief '\(OriginLog.format)';
            access_log \(log.map { "\($0) brief" } ?? "off");
            # The default of nginx before 1.23.4 lacks 1.3.
            ssl_protocols TLSv1.2 TLSv1.3;
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
            \(servers)
        }

        """
    }

    /// Returns the server of ``Origin``, without TLS.
    private static func server(port: UInt16, folder: String) -> String {
        """
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
        """
    }
}
