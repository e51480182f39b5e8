// Ed25519 from Node against the first test vectors of RFC 8032, and what is no signature.
import { describe, expect, it } from "vitest";
import { systemSha256OfBytes, systemSigning } from "./signing.ts";

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"));
const hex = (of: Uint8Array): string => Buffer.from(of).toString("hex");

describe("systemSigning", () => {
  const signing = systemSigning();
  const seed = bytes("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
  const key = signing.keyOf(seed);
  const message = bytes("72");

  it("signs and verifies as RFC 8032 7.1 test 2 says", () => {
    expect(hex(key.publicKey)).toBe("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
    const signature = key.sign(message);
    expect(hex(signature)).toBe(
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    );
    expect(signing.verify(key.publicKey, message, signature)).toBe(true);
    expect(signing.verify(key.publicKey, bytes("73"), signature)).toBe(false);
    const other = signature.map((byte, at) => (at === 5 ? byte ^ 1 : byte));
    expect(signing.verify(key.publicKey, message, other)).toBe(false);
  });

  it("verifies nothing with bytes that are no key or no signature", () => {
    expect(signing.verify(key.publicKey.subarray(1), message, key.sign(message))).toBe(false);
    expect(signing.verify(key.publicKey, message, key.sign(message).subarray(1))).toBe(false);
    expect(() => signing.keyOf(seed.subarray(1))).toThrow(RangeError);
  });

  it("hashes bytes into a character each", () => {
    expect(Buffer.from(systemSha256OfBytes(new Uint8Array(0)), "latin1").toString("hex")).toBe(
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    );
  });
});
