#if canImport(Darwin)
import KqueuePolling

/// The poller of this system.
typealias PlatformPoller = KqueuePoller
#else
import SocketPolling

/// The poller of this system.
typealias PlatformPoller = EpollPoller
#endif
