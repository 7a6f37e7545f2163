internal import COpenSSL

/// The version of the OpenSSL that the process has loaded: `3.0.17`.
package let openSSLVersion = String(cString: OpenSSL_version(OPENSSL_VERSION_STRING))
