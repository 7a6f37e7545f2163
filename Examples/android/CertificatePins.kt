// Written by pintle export; edit the policy, not this file.
// Needs OkHttp 4.3 or later: older ones read **. and match no host with it.
import okhttp3.CertificatePinner

val certificatePinner: CertificatePinner =
    CertificatePinner.Builder()
        .add(
            "**.example.com",
            "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710=",
            "sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s=",
        )
        .build()
