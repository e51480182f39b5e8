// What makes a token of a person good, and what makes it bad although its signature is right.
import { expect } from "vitest";
import { refuses, secondsNow } from "./verifier-kit.ts";
import type { VerifierCheck } from "./verifier-rig.ts";

export const personChecks: readonly VerifierCheck[] = [
  {
    promise: 1,
    sentence: "a good token is its owner, with the roles that we know, also the second time",
    async run(rig) {
      const token = await rig.sign({ sub: "anna", roles: ["operator", "astronaut", "viewer", "operator"], sid: "s1" });
      const expected = {
        kind: "operator",
        actor: "operator:anna",
        name: "anna",
        subject: `${rig.issuer}|anna`,
        issuer: rig.issuer,
        roles: ["operator", "viewer"],
        sessionId: "s1",
      };
      const first = await rig.verifier.verify(token);
      expect(first).toMatchObject(expected);
      expect(first.operations).toBeUndefined();
      expect(first.expiresAt).toBeGreaterThan(rig.clock.now());
      expect(await rig.verifier.verify(token)).toEqual(first);
    },
  },
  {
    promise: 1,
    sentence: "a token without roles, or with one role as text, is accepted as that",
    async run(rig) {
      expect((await rig.verifier.verify(await rig.sign({ roles: null }))).roles).toEqual([]);
      expect((await rig.verifier.verify(await rig.sign({ roles: [] }))).roles).toEqual([]);
      expect((await rig.verifier.verify(await rig.sign({ roles: "viewer" }))).roles).toEqual(["viewer"]);
      expect((await rig.verifier.verify(await rig.sign({ roles: { operator: true } }))).roles).toEqual([]);
    },
  },
  {
    promise: 1,
    sentence: "a token that ran out is refused, also when it was good a moment ago",
    async run(rig) {
      const nowS = secondsNow(rig);
      const old = await refuses(rig, await rig.sign({ iat: nowS - 600, exp: nowS - 10 }));
      expect(old.message).toContain("ctl auth login");
      const token = await rig.sign({ exp: nowS + 60 });
      await rig.verifier.verify(token);
      await rig.passTime(70_000);
      await refuses(rig, token);
    },
  },
  {
    promise: 1,
    sentence: "a token that is not valid yet is refused",
    async run(rig) {
      const nowS = secondsNow(rig);
      await refuses(rig, await rig.sign({ nbf: nowS + 60 }));
      await refuses(rig, await rig.sign({ iat: nowS + 60, exp: nowS + 300 }));
    },
  },
  {
    promise: 1,
    sentence: "a token for another audience or of another issuer is refused, and one of several audiences will do",
    async run(rig) {
      const { audience, issuer } = rig;
      for (const aud of ["somebody-else", ["one", "two"], [], null, `${audience} `, audience.toUpperCase(), 7]) {
        await refuses(rig, await rig.sign({ aud }));
      }
      await rig.verifier.verify(await rig.sign({ aud: ["one", audience] }));
      for (const iss of ["https://elsewhere.example", `${issuer}/`, null, "", [issuer]]) {
        await refuses(rig, await rig.sign({ iss }));
      }
    },
  },
  {
    promise: 1,
    sentence: "a token without sub, exp or iat, or with one that cannot be, is refused",
    async run(rig) {
      for (const claims of [{ sub: null }, { sub: "" }, { sub: 5 }, { sub: "a\nb" }, { sub: "x".repeat(5_000) }]) {
        await refuses(rig, await rig.sign(claims));
      }
      for (const claims of [
        { exp: null },
        { exp: "soon" },
        { exp: 1e300 },
        { iat: null },
        { iat: "now" },
        { iat: -1 },
      ]) {
        await refuses(rig, await rig.sign(claims));
      }
    },
  },
];
