extension TaskTransitionTable {
    static let text = """
        notAdmitted
            admitted: - > idle 1
            resume: keepTask, finish -999 > failed -999
            suspend: - > idle 2, not admitted
            cancel: keepTask, finish -999 > failed -999
            data: discard > idle 1, not admitted
            limitData: discard > idle 1, not admitted
            muchData: discard > idle 1, not admitted
        idle
            resume: prepare /first > preparing /first
            suspend: - > idle 2
            cancel: finish -999 > failed -999
            data: discard > idle 1
            limitData: discard > idle 1
            muchData: discard > idle 1
        idleSuspended
            resume: - > idle 1
            suspend: - > idle 3
            cancel: finish -999 > failed -999
            data: discard > idle 2
            limitData: discard > idle 2
            muchData: discard > idle 2
        preparing
            suspend: - > preparing /first, suspended 1
            cancel: finish -999 > failed -999
            openedWithData: - > preparing /first with data, sent 0 of 3
            openedNext: - > preparing /next, request /next
            lacksContent: startCountdown, askForStream /first > awaitingStream of /first
            deadline: finish -1001 > failed -1001
            lacksContentUnasked: finish -1021 > failed -1021
            made: start 1 /first > loading, 1 of /first
            madeAuthorized: start 1 /first > loading, 1 of /first, authorized first
            failedToPrepare: finish -1000 > failed -1000
            data: discard > preparing /first
            limitData: discard > preparing /first
            muchData: discard > preparing /first
        preparingSuspended
            resume: - > preparing /first
            suspend: - > preparing /first, suspended 2
            cancel: finish -999 > failed -999
            openedWithData: - > preparing /first with data, suspended 1, sent 0 of 3
            openedNext: - > preparing /next, suspended 1, request /next
            lacksContent: startCountdown, askForStream /first > awaitingStream of /first, suspended 1
            deadline: finish -1001 > failed -1001
            lacksContentUnasked: finish -1021 > failed -1021
            made: adjustSuspension 1, start 1 /first > loading, 1 of /first, suspended 1
            madeAuthorized: adjustSuspension 1, start 1 /first > loading, 1 of /first, suspended 1, authorized first
            failedToPrepare: finish -1000 > failed -1000
            data: discard > preparing /first, suspended 1
            limitData: discard > preparing /first, suspended 1
            muchData: discard > preparing /first, suspended 1
        preparingNext
            suspend: - > preparing /next, suspended 1, redirects 1
            cancel: finish -999 > failed -999
            opened: - > preparing /first, redirects 1
            openedWithData: - > preparing /first with data, redirects 1, sent 0 of 3
            openedNext: - > preparing /next, redirects 1, request /next
            lacksContent: startCountdown, askForStream /next > awaitingStream of /next, redirects 1
            deadline: finish -1001 > failed -1001
            lacksContentUnasked: finish -1021 > failed -1021
            made: start 1 /next > loading, 1 of /next, redirects 1
            madeAuthorized: start 1 /next > loading, 1 of /next, redirects 1, authorized first
            failedToPrepare: finish -1000 > failed -1000
            data: discard > preparing /next, redirects 1
            limitData: discard > preparing /next, redirects 1
            muchData: discard > preparing /next, redirects 1
        preparingAgain
            suspend: - > preparing /first with data, suspended 1, supersessions 1, sent 7 of 3
            cancel: finish -999 > failed -999, sent 7 of 3
            opened: - > preparing /first, supersessions 1, sent 7 of 3
            openedWithData: - > preparing /first with data, supersessions 1, sent 0 of 3
            openedNext: - > preparing /next, supersessions 1, request /next, sent 7 of 3
            lacksContent: startCountdown, askForStream /first with data > awaitingStream of /first with data, supersessions 1, sent 7 of 3
            deadline: finish -1001 > failed -1001, sent 7 of 3
            lacksContentUnasked: finish -1021 > failed -1021, sent 7 of 3
            made: start 1 /first with data > loading, 1 of /first with data, supersessions 1, sent 7 of 3
            madeAuthorized: start 1 /first with data > loading, 1 of /first with data, supersessions 1, authorized first, sent 7 of 3
            failedToPrepare: finish -1000 > failed -1000, sent 7 of 3
            data: discard > preparing /first with data, supersessions 1, sent 7 of 3
            limitData: discard > preparing /first with data, supersessions 1, sent 7 of 3
            muchData: discard > preparing /first with data, supersessions 1, sent 7 of 3
        awaitingStream
            suspend: - > awaitingStream of /first, suspended 1
            cancel: finish -999 > failed -999
            failedToPrepare: finish -1000 > failed -1000
            deadline: finish -1001 > failed -1001
            data: discard > awaitingStream of /first
            limitData: discard > awaitingStream of /first
            muchData: discard > awaitingStream of /first
            stream: prepare /first with stream > preparing /first with stream
            noStream: finish -1021 > failed -1021
        loading
            suspend: adjustSuspension 1 > loading, 1 of /first, suspended 1
            cancel: cancelTransfer 1 > cancelling 1
            failed: finish -1000, cancelTransfer 1 > failed -1000
            head: accept 1 200 > accepting 200, 1 of /first
            redirect: askAboutRedirect 1 302 /next > asking redirect 302, 1 of /first, redirects 1
            redirectUnasked: - > discarding before /next, 1 of /first, redirects 1
            refusedRedirect: finish -1022, cancelTransfer 1 > failed -1022
            challenge: askForCredential 1 of 1 > asking credential of 1, 1 of /first
            challengeTwice: askForCredential 1 of 2 > asking credential of 2, 1 of /first
            staleChallenge: askForCredential 1 of 1 > asking credential of 1, 1 of /first
            plain401: accept 1 401 > accepting 401, 1 of /first
            cookies: storeCookies 1 > storingCookies of 200, 1 of /first
            cookiesAndRedirect: storeCookies 1 > storingCookies of 302, 1 of /first
            cookiesAndChallenge: storeCookies 1 > storingCookies of 401, 1 of /first
            cookiesAndStaleChallenge: storeCookies 1 > storingCookies of 401, 1 of /first
            cookiesAndRefusedRedirect: storeCookies 1 > storingCookies of 302, 1 of /first
            sent: counted > loading, 1 of /first, sent 7 of 0
            data: refuse > loading, 1 of /first
            limitData: refuse > loading, 1 of /first
            muchData: refuse > loading, 1 of /first
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: prepareNext /first after 1 > preparing /first, supersessions 1
            unprocessed: finish -1005 > failed -1005
        loadingSuspended
            resume: adjustSuspension 1 > loading, 1 of /first
            suspend: - > loading, 1 of /first, suspended 2
            cancel: cancelTransfer 1 > cancelling 1
            failed: finish -1000, cancelTransfer 1 > failed -1000
            head: accept 1 200 > accepting 200, 1 of /first, suspended 1
            redirect: askAboutRedirect 1 302 /next > asking redirect 302, 1 of /first, suspended 1, redirects 1
            redirectUnasked: - > discarding before /next, 1 of /first, suspended 1, redirects 1
            refusedRedirect: finish -1022, cancelTransfer 1 > failed -1022
            challenge: askForCredential 1 of 1 > asking credential of 1, 1 of /first, suspended 1
            challengeTwice: askForCredential 1 of 2 > asking credential of 2, 1 of /first, suspended 1
            staleChallenge: askForCredential 1 of 1 > asking credential of 1, 1 of /first, suspended 1
            plain401: accept 1 401 > accepting 401, 1 of /first, suspended 1
            cookies: storeCookies 1 > storingCookies of 200, 1 of /first, suspended 1
            cookiesAndRedirect: storeCookies 1 > storingCookies of 302, 1 of /first, suspended 1
            cookiesAndChallenge: storeCookies 1 > storingCookies of 401, 1 of /first, suspended 1
            cookiesAndStaleChallenge: storeCookies 1 > storingCookies of 401, 1 of /first, suspended 1
            cookiesAndRefusedRedirect: storeCookies 1 > storingCookies of 302, 1 of /first, suspended 1
            sent: counted > loading, 1 of /first, suspended 1, sent 7 of 0
            data: refuse > loading, 1 of /first, suspended 1
            limitData: refuse > loading, 1 of /first, suspended 1
            muchData: refuse > loading, 1 of /first, suspended 1
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: prepareNext /first after 1 > preparing /first, suspended 1, supersessions 1
            unprocessed: finish -1005 > failed -1005
        loadingAuthorized
            suspend: adjustSuspension 1 > loading, 1 of /first, suspended 1, authorized first
            cancel: cancelTransfer 1 > cancelling 1
            failed: finish -1000, cancelTransfer 1 > failed -1000
            head: storeCredential, accept 1 200 > accepting 200, 1 of /first, authorized first
            redirect: askAboutRedirect 1 302 /next > asking redirect 302, 1 of /first, redirects 1, authorized first
            redirectUnasked: - > discarding before /next, 1 of /first, redirects 1, authorized first
            refusedRedirect: finish -1022, cancelTransfer 1 > failed -1022
            challenge: askForCredential 1 of 1 > asking credential of 1, 1 of /first, authorized first
            challengeTwice: askForCredential 1 of 2 > asking credential of 2, 1 of /first, authorized first
            staleChallenge: - > discarding before /first, 1 of /first, authorized second
            plain401: accept 1 401 > accepting 401, 1 of /first, authorized first
            cookies: storeCookies 1 > storingCookies of 200, 1 of /first, authorized first
            cookiesAndRedirect: storeCookies 1 > storingCookies of 302, 1 of /first, authorized first
            cookiesAndChallenge: storeCookies 1 > storingCookies of 401, 1 of /first, authorized first
            cookiesAndStaleChallenge: storeCookies 1 > storingCookies of 401, 1 of /first, authorized first
            cookiesAndRefusedRedirect: storeCookies 1 > storingCookies of 302, 1 of /first, authorized first
            sent: counted > loading, 1 of /first, authorized first, sent 7 of 0
            data: refuse > loading, 1 of /first, authorized first
            limitData: refuse > loading, 1 of /first, authorized first
            muchData: refuse > loading, 1 of /first, authorized first
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: prepareNext /first after 1 > preparing /first, supersessions 1, authorized first
            unprocessed: finish -1005 > failed -1005
        storingCookies
            suspend: adjustSuspension 1 > storingCookies of 200, 1 of /first, suspended 1
            cancel: cancelTransfer 1 > cancelling 1
            failed: finish -1000, cancelTransfer 1 > failed -1000
            storedCookies: accept 1 200 > accepting 200 held, 1 of /first
            storedCookiesUnasked: accept 1 200 > accepting 200 held, 1 of /first
            sent: counted > storingCookies of 200, 1 of /first, sent 7 of 0
            data: refuse > storingCookies of 200, 1 of /first
            limitData: refuse > storingCookies of 200, 1 of /first
            muchData: refuse > storingCookies of 200, 1 of /first
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: finish -1200 > failed -1200
            unprocessed: finish -1005 > failed -1005
        storingCookiesOfRedirect
            suspend: adjustSuspension 1 > storingCookies of 302, 1 of /first, suspended 1
            cancel: cancelTransfer 1 > cancelling 1
            failed: finish -1000, cancelTransfer 1 > failed -1000
            storedCookies: askAboutRedirect 1 302 /next > asking redirect 302, 1 of /first, redirects 1
            storedCookiesUnasked: release 1 answer choice > discarding before /next, 1 of /first, redirects 1
            sent: counted > storingCookies of 302, 1 of /first, sent 7 of 0
            data: refuse > storingCookies of 302, 1 of /first
            limitData: refuse > storingCookies of 302, 1 of /first
            muchData: refuse > storingCookies of 302, 1 of /first
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: finish -1200 > failed -1200
            unprocessed: finish -1005 > failed -1005
        storingCookiesOfChallenge
            suspend: adjustSuspension 1 > storingCookies of 401, 1 of /first, suspended 1
            cancel: cancelTransfer 1 > cancelling 1
            failed: finish -1000, cancelTransfer 1 > failed -1000
            storedCookies: askForCredential 1 of 1 > asking credential of 1, 1 of /first
            storedCookiesUnasked: askForCredential 1 of 1 > asking credential of 1, 1 of /first
            sent: counted > storingCookies of 401, 1 of /first, sent 7 of 0
            data: refuse > storingCookies of 401, 1 of /first
            limitData: refuse > storingCookies of 401, 1 of /first
            muchData: refuse > storingCookies of 401, 1 of /first
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: finish -1200 > failed -1200
            unprocessed: finish -1005 > failed -1005
        storingCookiesOfStaleNonce
            suspend: adjustSuspension 1 > storingCookies of 401, 1 of /first, suspended 1, authorized first
            cancel: cancelTransfer 1 > cancelling 1
            failed: finish -1000, cancelTransfer 1 > failed -1000
            storedCookies: release 1 answer choice > discarding before /first, 1 of /first, authorized second
            storedCookiesUnasked: release 1 answer choice > discarding before /first, 1 of /first, authorized second
            sent: counted > storingCookies of 401, 1 of /first, authorized first, sent 7 of 0
            data: refuse > storingCookies of 401, 1 of /first, authorized first
            limitData: refuse > storingCookies of 401, 1 of /first, authorized first
            muchData: refuse > storingCookies of 401, 1 of /first, authorized first
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: finish -1200 > failed -1200
            unprocessed: finish -1005 > failed -1005
        storingCookiesOfRefusal
            suspend: adjustSuspension 1 > storingCookies of 302, 1 of /first, suspended 1
            cancel: cancelTransfer 1 > cancelling 1
            failed: finish -1000, cancelTransfer 1 > failed -1000
            storedCookies: finish -1022, cancelTransfer 1 > failed -1022
            storedCookiesUnasked: finish -1022, cancelTransfer 1 > failed -1022
            sent: counted > storingCookies of 302, 1 of /first, sent 7 of 0
            data: refuse > storingCookies of 302, 1 of /first
            limitData: refuse > storingCookies of 302, 1 of /first
            muchData: refuse > storingCookies of 302, 1 of /first
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: finish -1200 > failed -1200
            unprocessed: finish -1005 > failed -1005
        askingRedirect
            suspend: adjustSuspension 1 > asking redirect 302, 1 of /first, suspended 1, redirects 1
            cancel: cancelTransfer 1 > cancelling 1
            failed: finish -1000, cancelTransfer 1 > failed -1000
            sent: counted > asking redirect 302, 1 of /first, redirects 1, sent 7 of 0
            data: refuse > asking redirect 302, 1 of /first, redirects 1
            limitData: refuse > asking redirect 302, 1 of /first, redirects 1
            muchData: refuse > asking redirect 302, 1 of /first, redirects 1
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: finish -1200 > failed -1200
            unprocessed: finish -1005 > failed -1005
            follow: release 1 answer choice > discarding before /chosen, 1 of /first, redirects 1
            noRedirect: accept 1 302 > accepting 302 held, 1 of /first, redirects 1
            downgrade: finish -1022, cancelTransfer 1 > failed -1022
        askingCredential
            suspend: adjustSuspension 1 > asking credential of 1, 1 of /first, suspended 1
            cancel: cancelTransfer 1 > cancelling 1
            failed: finish -1000, cancelTransfer 1 > failed -1000
            sent: counted > asking credential of 1, 1 of /first, sent 7 of 0
            data: refuse > asking credential of 1, 1 of /first
            limitData: refuse > asking credential of 1, 1 of /first
            muchData: refuse > asking credential of 1, 1 of /first
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: finish -1200 > failed -1200
            unprocessed: finish -1005 > failed -1005
            credential: release 1 answer choice > discarding before /first, 1 of /first, authorized first, given 1
            noCredential: accept 1 401 > accepting 401 held, 1 of /first
            nextOffer: accept 1 401 > accepting 401 held, 1 of /first
        askingTwoOffers
            suspend: adjustSuspension 1 > asking credential of 2, 1 of /first, suspended 1
            cancel: cancelTransfer 1 > cancelling 1
            failed: finish -1000, cancelTransfer 1 > failed -1000
            sent: counted > asking credential of 2, 1 of /first, sent 7 of 0
            data: refuse > asking credential of 2, 1 of /first
            limitData: refuse > asking credential of 2, 1 of /first
            muchData: refuse > asking credential of 2, 1 of /first
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: finish -1200 > failed -1200
            unprocessed: finish -1005 > failed -1005
            credential: release 1 answer choice > discarding before /first, 1 of /first, authorized first, given 1
            noCredential: accept 1 401 > accepting 401 held, 1 of /first
            nextOffer: askForCredential 1 of 1 > asking credential of 1, 1 of /first
        accepting
            suspend: adjustSuspension 1 > accepting 200, 1 of /first, suspended 1
            cancel: cancelTransfer 1 > cancelling 1
            failed: finish -1000, cancelTransfer 1 > failed -1000
            accepted: - > receiving, 1 of /first, response 200, received 0 of -1
            acceptedInformed: showResponse 200 > receiving, 1 of /first, response 200, received 0 of -1
            acceptedAsked: askAboutResponse 1 200 > asking response, 1 of /first, response 200, received 0 of -1
            sent: counted > accepting 200, 1 of /first, sent 7 of 0
            data: refuse > accepting 200, 1 of /first
            limitData: refuse > accepting 200, 1 of /first
            muchData: refuse > accepting 200, 1 of /first
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: finish -1200 > failed -1200
            unprocessed: finish -1005 > failed -1005
        acceptingHeld
            suspend: adjustSuspension 1 > accepting 200 held, 1 of /first, suspended 1
            cancel: cancelTransfer 1 > cancelling 1
            failed: finish -1000, cancelTransfer 1 > failed -1000
            accepted: release 1 answer choice > receiving, 1 of /first, response 200, received 0 of -1
            acceptedInformed: showResponse 200, release 1 answer choice > receiving, 1 of /first, response 200, received 0 of -1
            acceptedAsked: askAboutResponse 1 200, release 1 choice > asking response, 1 of /first, response 200, received 0 of -1
            sent: counted > accepting 200 held, 1 of /first, sent 7 of 0
            data: refuse > accepting 200 held, 1 of /first
            limitData: refuse > accepting 200 held, 1 of /first
            muchData: refuse > accepting 200 held, 1 of /first
            completed: finish -1005 > failed -1005
            timedOut: finish -1001 > failed -1001
            superseded: finish -1200 > failed -1200
            unprocessed: finish -1005 > failed -1005
        askingResponse
            suspend: adjustSuspension 1 > asking response, 1 of /first, suspended 1, response 200, received 0 of -1
            cancel: cancelTransfer 1 > cancelling 1, response 200, received 0 of -1
            failed: finish -1000, cancelTransfer 1 > failed -1000, response 200, received 0 of -1
            sent: counted > asking response, 1 of /first, response 200, sent 7 of 0, received 0 of -1
            data: refuse > asking response, 1 of /first, response 200, received 0 of -1
            limitData: refuse > asking response, 1 of /first, response 200, received 0 of -1
            muchData: refuse > asking response, 1 of /first, response 200, received 0 of -1
            completed: finish -1005 > failed -1005, response 200, received 0 of -1
            timedOut: finish -1001 > failed -1001, response 200, received 0 of -1
            superseded: finish -1200 > failed -1200, response 200, received 0 of -1
            unprocessed: finish -1005 > failed -1005, response 200, received 0 of -1
            allow: release 1 answer > receiving, 1 of /first, response 200, received 0 of -1
            refuse: finish -1000, cancelTransfer 1 > failed -1000, response 200, received 0 of -1
        receiving
            suspend: adjustSuspension 1 > receiving, 1 of /first, suspended 1, response 200, received 0 of -1
            cancel: cancelTransfer 1 > cancelling 1, response 200, received 0 of -1
            failed: finish -1000, cancelTransfer 1 > failed -1000, response 200, received 0 of -1
            sent: counted > receiving, 1 of /first, response 200, sent 7 of 0, received 0 of -1
            data: keep > receiving, 1 of /first, response 200, received 100 of -1
            limitData: keep > receiving, 1 of /first, response 200, received 262144 of -1
            muchData: keep > receiving, 1 of /first, response 200, received 262145 of -1
            completed: finish > succeeded, response 200, received 0 of -1
            timedOut: finish -1001 > failed -1001, response 200, received 0 of -1
            superseded: finish -1200 > failed -1200, response 200, received 0 of -1
            unprocessed: finish -1005 > failed -1005, response 200, received 0 of -1
        discarding
            suspend: adjustSuspension 1 > discarding before /next, 1 of /first, suspended 1, redirects 1
            cancel: cancelTransfer 1 > cancelling 1
            failed: finish -1000, cancelTransfer 1 > failed -1000
            sent: counted > discarding before /next, 1 of /first, redirects 1, sent 7 of 0
            data: discard > discarding before /next, 100 discarded, 1 of /first, redirects 1
            limitData: discard > discarding before /next, 262144 discarded, 1 of /first, redirects 1
            muchData: refuse > discarding before /next, 262145 discarded, 1 of /first, redirects 1
            completed: prepareNext /next after 1 > preparing /next, redirects 1
            timedOut: prepareNext /next after 1 > preparing /next, redirects 1
            superseded: prepareNext /next after 1 > preparing /next, redirects 1
            unprocessed: prepareNext /next after 1 > preparing /next, redirects 1
        discardingAtLimit
            suspend: adjustSuspension 1 > discarding before /next, 262144 discarded, 1 of /first, suspended 1, redirects 1
            cancel: cancelTransfer 1 > cancelling 1
            failed: finish -1000, cancelTransfer 1 > failed -1000
            sent: counted > discarding before /next, 262144 discarded, 1 of /first, redirects 1, sent 7 of 0
            data: refuse > discarding before /next, 262244 discarded, 1 of /first, redirects 1
            limitData: refuse > discarding before /next, 524288 discarded, 1 of /first, redirects 1
            muchData: refuse > discarding before /next, 524289 discarded, 1 of /first, redirects 1
            completed: prepareNext /next after 1 > preparing /next, redirects 1
            timedOut: prepareNext /next after 1 > preparing /next, redirects 1
            superseded: prepareNext /next after 1 > preparing /next, redirects 1
            unprocessed: prepareNext /next after 1 > preparing /next, redirects 1
        cancelling
            data: discard > cancelling 1
            limitData: discard > cancelling 1
            muchData: discard > cancelling 1
            completed: finish -999 > failed -999
            timedOut: finish -999 > failed -999
            superseded: finish -999 > failed -999
            unprocessed: finish -999 > failed -999
        succeeded
            data: discard > succeeded, response 200, received 0 of -1
            limitData: discard > succeeded, response 200, received 0 of -1
            muchData: discard > succeeded, response 200, received 0 of -1
        failed
            data: discard > failed -1001
            limitData: discard > failed -1001
            muchData: discard > failed -1001
        """
}
