// The text of a signed token (RFC 7515, compact form). Whoever holds one can write its signature in other ways that fit as well, so what
// a token is called must not depend on that part, and only one spelling of each part is let in.

const partsCount = 3;
const partForm = /^[A-Za-z0-9_-]+$/;

/** Whether this is header, payload and signature, each in the one base64url spelling that its bytes have. */
export function isCompactForm(token: string): boolean {
  const parts = token.split(".", partsCount + 1);
  return parts.length === partsCount && parts.every(isCanonical);
}

function isCanonical(part: string): boolean {
  return partForm.test(part) && Buffer.from(part, "base64url").toString("base64url") === part;
}

/** What the issuer signed: everything before the signature. */
export function signingInputOf(token: string): string {
  return token.slice(0, Math.max(0, token.lastIndexOf(".")));
}
