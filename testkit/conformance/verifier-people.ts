// What makes a token of a person good, and what makes it bad although its signature is right.
import { expect } from "vitest";
import type { VerifierCheck } from "./verifier-fixture.ts";
import { refuses, secondsNow } from "./verifier-kit.ts";

export const personChecks: readonly VerifierCheck[] = [
  {
    promise: 1,
    sentence: "a good token is its owner, with the roles that we know, also the second time",
    async run(fixture) {
      const token = await fixture.sign({
        sub: "anna",
        roles: ["operator", "astronaut", "viewer", "operator"],
        sid: "s1",
      });
      const expected = {
        kind: "operator",
        actor: "operator:anna",
        name: "anna",
        subject: `${fixture.issuer}|anna`,
        issuer: fixture.issuer,
        roles: ["operator", "viewer"],
        sessionId: "s1",
      };
      const first = await fixture.verifier.verify(token);
      expect(first).toMatchObject(expected);
      expect(first.operations).toBeUndefined();
      expect(first.expiresAt).toBeGreaterThan(fixture.clock.now());
      expect(await fixture.verifier.verify(token)).toEqual(first);
    },
  },
  {
    promise: 1,
    sentence: "a token without roles, or with one role as text, is accepted as that",
    async run(fixture) {
      expect((await fixture.verifier.verify(await fixture.sign({ roles: null }))).roles).toEqual([]);
      expect((await fixture.verifier.verify(await fixture.sign({ roles: [] }))).roles).toEqual([]);
      expect((await fixture.verifier.verify(await fixture.sign({ roles: "viewer" }))).roles).toEqual(["viewer"]);
      expect((await fixture.verifier.verify(await fixture.sign({ roles: { operator: true } }))).roles).toEqual([]);
    },
  },
  {
    promise: 1,
    sentence: "a token that ran out is refused, also when it was good a moment ago",
    async run(fixture) {
      const nowS = secondsNow(fixture);
      const old = await refuses(fixture, await fixture.sign({ iat: nowS - 600, exp: nowS - 10 }));
      expect(old.message).toContain("ctl auth login");
      const token = await fixture.sign({ exp: nowS + 60 });
      await fixture.verifier.verify(token);
      await fixture.passTime(70_000);
      await refuses(fixture, token);
    },
  },
  {
    promise: 1,
    sentence: "a token that is not valid yet is refused",
    async run(fixture) {
      const nowS = secondsNow(fixture);
      await refuses(fixture, await fixture.sign({ nbf: nowS + 60 }));
      await refuses(fixture, await fixture.sign({ iat: nowS + 60, exp: nowS + 300 }));
    },
  },
  {
    promise: 1,
    sentence: "a token for another audience or of another issuer is refused, and one of several audiences will do",
    async run(fixture) {
      const { audience, issuer } = fixture;
      for (const aud of ["somebody-else", ["one", "two"], [], null, `${audience} `, audience.toUpperCase(), 7]) {
        await refuses(fixture, await fixture.sign({ aud }));
      }
      await fixture.verifier.verify(await fixture.sign({ aud: ["one", audience] }));
      for (const iss of ["https://elsewhere.example", `${issuer}/`, null, "", [issuer]]) {
        await refuses(fixture, await fixture.sign({ iss }));
      }
    },
  },
  {
    promise: 1,
    sentence: "a token without sub, exp or iat, or with one that cannot be, is refused",
    async run(fixture) {
      for (const claims of [{ sub: null }, { sub: "" }, { sub: 5 }, { sub: "a\nb" }, { sub: "x".repeat(5_000) }]) {
        await refuses(fixture, await fixture.sign(claims));
      }
      for (const claims of [
        { exp: null },
        { exp: "soon" },
        { exp: 1e300 },
        { iat: null },
        { iat: "now" },
        { iat: -1 },
      ]) {
        await refuses(fixture, await fixture.sign(claims));
      }
    },
  },
];
