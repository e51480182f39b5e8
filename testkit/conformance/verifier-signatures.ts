// What a forger would try, and what a change of keys must and must not do.
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { expect } from "vitest";
import type { VerifierCheck } from "./verifier-fixture.ts";
import { encoded, refusedInTime, refuses, withPart } from "./verifier-kit.ts";

export const signatureChecks: readonly VerifierCheck[] = [
  {
    promise: 1,
    sentence: "alg none is refused, in any spelling, with and without a signature",
    async run(fixture) {
      const token = await fixture.sign();
      for (const alg of ["none", "None", "NONE", "nOnE", "", null, 0]) {
        const forged = withPart(token, 0, () => encoded({ alg, typ: "at+jwt" }));
        await refuses(fixture, forged);
        await refuses(
          fixture,
          withPart(forged, 2, () => ""),
        );
      }
    },
  },
  {
    promise: 1,
    sentence: "a symmetric signature with the public key as its secret is refused",
    async run(fixture) {
      const claims = JSON.parse(Buffer.from((await fixture.sign()).split(".")[1] ?? "", "base64url").toString());
      const header = JSON.parse(Buffer.from((await fixture.sign()).split(".")[0] ?? "", "base64url").toString());
      const secret = Buffer.from((await fixture.publicKeyText()).padEnd(64, "="));
      for (const alg of ["HS256", "HS384", "HS512"]) {
        await refuses(fixture, await new SignJWT(claims).setProtectedHeader({ ...header, alg }).sign(secret));
      }
    },
  },
  {
    promise: 1,
    sentence: "a changed header, payload or signature is refused, also after the true token was accepted",
    async run(fixture) {
      const token = await fixture.sign({ sub: "carl", roles: ["viewer"] });
      await fixture.verifier.verify(token);
      const richer = (part: string) => {
        const claims = JSON.parse(Buffer.from(part, "base64url").toString());
        return encoded({ ...claims, roles: ["admin"] });
      };
      await refuses(fixture, withPart(token, 1, richer));
      await refuses(
        fixture,
        withPart(token, 2, (part) => `${part.startsWith("A") ? "B" : "A"}${part.slice(1)}`),
      );
      await refuses(
        fixture,
        withPart(token, 2, (part) => part.slice(4)),
      );
      await refuses(
        fixture,
        withPart(token, 2, () => ""),
      );
      await refuses(
        fixture,
        withPart(token, 0, (part) => encoded({ ...JSON.parse(Buffer.from(part, "base64url").toString()), x: 1 })),
      );
    },
  },
  {
    promise: 1,
    sentence: "a token of an unknown key, of none, or of a foreign key under a known id is refused",
    async run(fixture) {
      await refuses(fixture, await fixture.sign({}, { header: { kid: "nobody-knows-this-one" } }));
      await refuses(fixture, await fixture.sign({}, { key: "foreign" }));
      await refuses(fixture, await fixture.sign({}, { key: "foreign", header: { kid: "../../etc/passwd" } }));
      const { privateKey, jwk } = await ownKey(fixture.algorithm);
      const embedded = { alg: fixture.algorithm, typ: "at+jwt", jwk };
      await refuses(fixture, await new SignJWT({}).setProtectedHeader(embedded).sign(privateKey));
    },
  },
  {
    promise: 1,
    sentence: "a token of another type is refused",
    async run(fixture) {
      for (const typ of ["logout+jwt", "secevent+jwt", "dpop+jwt", "rt+jwt", ""]) {
        await refuses(fixture, await fixture.sign({}, { header: { typ } }));
      }
      await refuses(fixture, await fixture.sign({ cnf: { jkt: "thumbprint" } }));
    },
  },
  {
    promise: 1,
    sentence: "after a rotation the new key is good at once and the old one until it is withdrawn",
    async run(fixture) {
      const before = await fixture.sign({ sub: "dora" });
      await fixture.verifier.verify(before);
      await fixture.rotateKeys();
      const after = await fixture.sign({ sub: "dora" });
      expect((await fixture.verifier.verify(after)).name).toBe("dora");
      const overlap = await fixture.sign({ sub: "emil" }, { key: "previous" });
      for (const token of [before, overlap]) await fixture.verifier.verify(token);
      await fixture.withdrawPrevious();
      await refusedInTime(fixture, before);
      await refuses(fixture, overlap);
      await refuses(fixture, await fixture.sign({}, { key: "previous" }));
      await fixture.verifier.verify(after);
    },
  },
];

async function ownKey(algorithm: string) {
  const pair = await generateKeyPair(algorithm, { extractable: true });
  return { privateKey: pair.privateKey, jwk: await exportJWK(pair.publicKey) };
}
