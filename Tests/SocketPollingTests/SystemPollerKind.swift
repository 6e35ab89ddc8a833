import KqueuePolling
import SocketPolling

/// The system pollers that can run here: on Linux also kqueue's, over a stand-in for kqueue.
enum SystemPollerKind: CaseIterable, Sendable {
    #if os(Linux)
    case epoll
    #endif
    case kqueue

    var type: any SystemPoller.Type {
        switch self {
        #if os(Linux)
        case .epoll: EpollPoller.self
        #endif
        case .kqueue: KqueuePoller.self
        }
    }
}
