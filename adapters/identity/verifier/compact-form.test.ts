// One token has one text: another spelling of the same signature is no way around a logout.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { VerifierFixture } from "../../../testkit/conformance/verifier-fixture.ts";
import { embeddedFixture } from "../../../testkit/verifier-fixtures.ts";

/** The order of P-256: with a signature (r, s) there is always (r, n - s). */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

let fixture: VerifierFixture;
beforeAll(async () => {
  fixture = await embeddedFixture();
});
afterAll(() => fixture.close());

function withOtherSignature(token: string): string {
  const [header, payload, signature = ""] = token.split(".");
  const bytes = Buffer.from(signature, "base64url");
  const s = order - BigInt(`0x${bytes.subarray(32).toString("hex")}`);
  const other = Buffer.concat([bytes.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, "0"), "hex")]);
  return `${header}.${payload}.${other.toString("base64url")}`;
}

describe("the text of a token", () => {
  it("with the other signature that fits is the same token, and ends with it", async () => {
    const token = await fixture.sign({ sub: "mallory", jti: null });
    const twin = withOtherSignature(token);
    const { tokenId } = await fixture.verifier.verify(token);
    expect((await fixture.verifier.verify(twin)).tokenId).toBe(tokenId);
    await fixture.revoke("token", tokenId);
    await fixture.passTime(0);
    for (const text of [token, twin, withOtherSignature(twin)]) {
      await expect(fixture.verifier.verify(text)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    }
  });

  it("in another spelling is no token", async () => {
    const token = await fixture.sign({ sub: "mallory" });
    await fixture.verifier.verify(token);
    const last = alphabet.indexOf(token.at(-1) ?? "");
    const padded = `${token.slice(0, -1)}${alphabet[last ^ 1]}`;
    for (const text of [`${token}=`, `${token}==`, padded, token.replace(".", "=."), `${token}.`, `${token}~`]) {
      await expect(fixture.verifier.verify(text), text.slice(-8)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    }
  });
});
