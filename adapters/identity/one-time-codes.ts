// The codes that people show: TOTP (RFC 6238: SHA-1, six digits, 30 seconds) by the library, and recovery codes of 80 random bits.
// Whether a code that fits may be used is not decided here.
import { Secret, TOTP } from "otpauth";
import { type Instant, toUnixMs } from "../../contracts/src/instant.ts";
import type { Random } from "../../ports/random.ts";

const issuer = "Portcullis";
const periodS = 30;
const digits = 6;
/** Steps of clock difference that are accepted either way. */
const windowSteps = 1;
const secretBytes = 20;
const totpForm = /^[0-9]{6}$/;

export const recoveryCodesCount = 10;
const recoveryBytes = 10;
const recoveryForm = /^[0-9a-hjkmnp-tv-z]{16}$/;
/** Without the letters i, l, o and u: the first three look like digits, and are read as such. */
const recoveryAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** A new secret in base32, as authenticators take it. */
export function newTotpSecret(random: Random): string {
  // The library takes a whole buffer, so the bytes get one of their own.
  return new Secret({ buffer: Uint8Array.from(random.bytes(secretBytes)).buffer }).base32;
}

function totpOf(secret: string, name: string): TOTP {
  return new TOTP({
    issuer,
    label: name,
    algorithm: "SHA1",
    digits,
    period: periodS,
    secret: Secret.fromBase32(secret),
  });
}

/** What the QR code says. Algorithm, digits and period are what authenticators assume, and left out: a smaller code fits a small terminal. */
export function totpUri(secret: string, name: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(name)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`;
}

/** The time step whose code this is, near that moment; undefined when it is none. */
export function matchTotp(secret: string, code: string, at: Instant): number | undefined {
  // The library throws on six characters that are not six bytes.
  if (!totpForm.test(code)) return undefined;
  const timestamp = toUnixMs(at);
  const totp = totpOf(secret, "");
  const delta = totp.validate({ token: code, timestamp, window: windowSteps });
  return delta === null ? undefined : totp.counter({ timestamp }) + delta;
}

/** Four groups of four, such as `7k2m-…`. */
export function newRecoveryCode(random: Random): string {
  let bits = 0n;
  for (const byte of random.bytes(recoveryBytes)) bits = (bits << 8n) | BigInt(byte);
  const letters = Array.from({ length: (recoveryBytes * 8) / 5 }, (_none, index) => {
    return recoveryAlphabet.charAt(Number((bits >> BigInt(index * 5)) & 31n));
  }).join("");
  return (letters.match(/.{4}/g) ?? []).join("-");
}

/** The code as it is hashed, whatever way a person wrote it down; undefined when it cannot be one. */
export function normalRecoveryCode(code: string): string | undefined {
  if (code.length > 64) return undefined;
  const plain = code.toLowerCase().replaceAll(/[\s-]/g, "").replaceAll("o", "0").replaceAll(/[il]/g, "1");
  return recoveryForm.test(plain) ? plain : undefined;
}
