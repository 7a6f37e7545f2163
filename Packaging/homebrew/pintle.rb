# Builds the command-line tool on macOS from a checkout. Homebrew takes formulae from a tap only. No run of this on a Mac has
# been seen yet.
#
#     brew tap-new pintle/local
#     cp Packaging/homebrew/pintle.rb "$(brew --repository pintle/local)/Formula/"
#     HOMEBREW_PINTLE_SOURCE=$PWD brew install --HEAD pintle/local/pintle
class Pintle < Formula
  desc "Decides whether a TLS server is the one that an app means to talk to"
  license "Apache-2.0"
  head "file://#{ENV.fetch("HOMEBREW_PINTLE_SOURCE", "")}", using: :git, branch: "main"

  depends_on "pkgconf" => :build
  depends_on xcode: ["26.0", :build]
  depends_on "expat"
  depends_on "libpsl"
  depends_on macos: :sequoia
  depends_on "openssl@3"

  def install
    ENV["PINTLE_OPENSSL"] = "1"
    system "swift", "build", "--disable-sandbox", "-c", "release", "--product", "pintle"
    bin.install ".build/release/pintle"
    generate_completions_from_executable(bin/"pintle", "--generate-completion-script", shells: [:zsh, :fish])
  end

  test do
    assert_match "REJECTED  pin-mismatch", shell_output("#{bin}/pintle demo")
  end
end
