// What a forger would try, and what a change of keys must and must not do.
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { expect } from "vitest";
import { encoded, refusedInTime, refuses, withPart } from "./verifier-kit.ts";
import type { VerifierCheck } from "./verifier-rig.ts";

export const signatureChecks: readonly VerifierCheck[] = [
  {
    promise: 1,
    sentence: "alg none is refused, in any spelling, with and without a signature",
    async run(rig) {
      const token = await rig.sign();
      for (const alg of ["none", "None", "NONE", "nOnE", "", null, 0]) {
        const forged = withPart(token, 0, () => encoded({ alg, typ: "at+jwt" }));
        await refuses(rig, forged);
        await refuses(
          rig,
          withPart(forged, 2, () => ""),
        );
      }
    },
  },
  {
    promise: 1,
    sentence: "a symmetric signature with the public key as its secret is refused",
    async run(rig) {
      const claims = JSON.parse(Buffer.from((await rig.sign()).split(".")[1] ?? "", "base64url").toString());
      const header = JSON.parse(Buffer.from((await rig.sign()).split(".")[0] ?? "", "base64url").toString());
      const secret = Buffer.from((await rig.publicKeyText()).padEnd(64, "="));
      for (const alg of ["HS256", "HS384", "HS512"]) {
        await refuses(rig, await new SignJWT(claims).setProtectedHeader({ ...header, alg }).sign(secret));
      }
    },
  },
  {
    promise: 1,
    sentence: "a changed header, payload or signature is refused, also after the true token was accepted",
    async run(rig) {
      const token = await rig.sign({ sub: "carl", roles: ["viewer"] });
      await rig.verifier.verify(token);
      const richer = (part: string) => {
        const claims = JSON.parse(Buffer.from(part, "base64url").toString());
        return encoded({ ...claims, roles: ["admin"] });
      };
      await refuses(rig, withPart(token, 1, richer));
      await refuses(
        rig,
        withPart(token, 2, (part) => `${part.startsWith("A") ? "B" : "A"}${part.slice(1)}`),
      );
      await refuses(
        rig,
        withPart(token, 2, (part) => part.slice(4)),
      );
      await refuses(
        rig,
        withPart(token, 2, () => ""),
      );
      await refuses(
        rig,
        withPart(token, 0, (part) => encoded({ ...JSON.parse(Buffer.from(part, "base64url").toString()), x: 1 })),
      );
    },
  },
  {
    promise: 1,
    sentence: "a token of an unknown key, of none, or of a foreign key under a known id is refused",
    async run(rig) {
      await refuses(rig, await rig.sign({}, { header: { kid: "nobody-knows-this-one" } }));
      await refuses(rig, await rig.sign({}, { key: "foreign" }));
      await refuses(rig, await rig.sign({}, { key: "foreign", header: { kid: "../../etc/passwd" } }));
      const { privateKey, jwk } = await ownKey(rig.algorithm);
      const embedded = { alg: rig.algorithm, typ: "at+jwt", jwk };
      await refuses(rig, await new SignJWT({}).setProtectedHeader(embedded).sign(privateKey));
    },
  },
  {
    promise: 1,
    sentence: "a token of another type is refused",
    async run(rig) {
      for (const typ of ["logout+jwt", "secevent+jwt", "dpop+jwt", "rt+jwt", ""]) {
        await refuses(rig, await rig.sign({}, { header: { typ } }));
      }
      await refuses(rig, await rig.sign({ cnf: { jkt: "thumbprint" } }));
    },
  },
  {
    promise: 1,
    sentence: "after a rotation the new key is good at once and the old one until it is withdrawn",
    async run(rig) {
      const before = await rig.sign({ sub: "dora" });
      await rig.verifier.verify(before);
      await rig.rotateKeys();
      const after = await rig.sign({ sub: "dora" });
      expect((await rig.verifier.verify(after)).name).toBe("dora");
      const overlap = await rig.sign({ sub: "emil" }, { key: "previous" });
      for (const token of [before, overlap]) await rig.verifier.verify(token);
      await rig.withdrawPrevious();
      await refusedInTime(rig, before);
      await refuses(rig, overlap);
      await refuses(rig, await rig.sign({}, { key: "previous" }));
      await rig.verifier.verify(after);
    },
  },
];

async function ownKey(algorithm: string) {
  const pair = await generateKeyPair(algorithm, { extractable: true });
  return { privateKey: pair.privateKey, jwk: await exportJWK(pair.publicKey) };
}
