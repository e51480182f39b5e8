// The memory of verified tokens: bounded, and true to whoever is used.
import { generateKeyPair } from "jose";
import { expect, it } from "vitest";
import { identityOf } from "./claims.ts";
import { createVerifiedTokens, type VerifiedToken } from "./verified-tokens.ts";

const { publicKey } = await generateKeyPair("ES256");

function verifiedToken(sub: string): VerifiedToken {
  const rules = { rolesClaim: "roles", nameClaim: "sub", roleNames: {} };
  const identity = identityOf(sub, { iss: "https://login.example", sub, iat: 1, exp: 2, jti: sub }, rules);
  return { identity, keyId: "key", mark: publicKey };
}

it("gives back what was put, the later one of two, and nothing that was removed", () => {
  const tokens = createVerifiedTokens(10);
  const [one, other] = [verifiedToken("one"), verifiedToken("other")];
  expect(tokens.get("a")).toBeUndefined();
  tokens.put("a", one);
  expect(tokens.get("a")).toBe(one);
  tokens.put("a", other);
  expect(tokens.get("a")).toBe(other);
  tokens.remove("a");
  expect(tokens.get("a")).toBeUndefined();
});

it("never holds more than it may, and always the half of that which was used last", () => {
  const sizeMax = 100;
  const tokens = createVerifiedTokens(sizeMax);
  const kept = verifiedToken("kept");
  tokens.put("kept", kept);
  const names = Array.from({ length: 1_000 }, (_, n) => `n${n}`);
  names.forEach((name, n) => {
    tokens.put(name, verifiedToken(name));
    // Used once in a while, and never forgotten for all the others that come by.
    if (n % (sizeMax / 2 - 1) === 0) expect(tokens.get("kept"), `after ${n}`).toBe(kept);
  });
  expect(names.slice(-sizeMax / 2 + 1).every((name) => tokens.get(name) !== undefined)).toBe(true);
  const fresh = createVerifiedTokens(sizeMax);
  for (const name of names) fresh.put(name, verifiedToken(name));
  const held = names.filter((name) => fresh.get(name) !== undefined);
  expect(held.length).toBeLessThanOrEqual(sizeMax);
});

it("forgets what was removed in either generation", () => {
  const tokens = createVerifiedTokens(4);
  for (const name of ["a", "b", "c"]) tokens.put(name, verifiedToken(name));
  for (const name of ["a", "b", "c"]) {
    expect(tokens.get(name), name).toBeDefined();
    tokens.remove(name);
    expect(tokens.get(name), name).toBeUndefined();
  }
});
