public import Pintle

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension CertificateFilesError: LocalizedError, DescribedError {}
