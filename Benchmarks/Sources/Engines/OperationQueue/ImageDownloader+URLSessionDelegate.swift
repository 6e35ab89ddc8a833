import Foundation

import FoundationNetworking

/// Delegate methods that forward every call to the operation of the task.
extension ImageDownloader: URLSessionDataDelegate {
    /// Returns the operation of `task` by searching all operations for every call, as in the original.
    private func operation(of task: URLSessionTask) -> ImageDownloaderOperation? {
        for case let operation as ImageDownloaderOperation in downloadQueue.operations
        where operation.taskIdentifier == task.taskIdentifier {
            return operation
        }
        return nil
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        operation(of: dataTask)?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        operation(of: dataTask)?.receive(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        operation(of: task)?.complete(error)
    }
}
