// The token of what runs on for hours: renewals by another ctl are used, a logout counts, and nobody else's login is taken.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { parse } from "../../../contracts/src/instant.ts";
import { scheduler } from "../../../testkit/virtual/scheduler.ts";
import { resolveSettings, type Settings } from "../settings.ts";
import { lastingBearer } from "./bearer.ts";
import { type Profile, writeProfile } from "./profile.ts";

const url = "http://127.0.0.1:8080";
const { clock, timers } = scheduler({ seed: 1, startAt: parse("2026-11-15T03:00:00Z") });
const ports = { clock, timers, signal: new AbortController().signal };

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "portcullis-bearer-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const profileOf = (name: string, token: string): Profile => ({
  server: url,
  issuer: `${url}/oidc`,
  client_id: "ctl",
  audience: "portcullis",
  name,
  token,
  token_kind: "access_token",
  expires_at: "2026-11-15T04:00:00Z",
});

function settingsWith(profile: Profile): Settings {
  const environment = { XDG_CONFIG_HOME: home, PORTCULLIS_URL: url };
  writeProfile(resolveSettings({}, environment).profilePath, profile);
  return resolveSettings({}, environment);
}

it("uses what another ctl renewed", async () => {
  const settings = settingsWith(profileOf("duty", "t-1"));
  const token = lastingBearer(settings, ports);
  expect(await token()).toBe("t-1");
  writeProfile(settings.profilePath, profileOf("duty", "t-2"));
  expect(await token()).toBe("t-2");
});

it("is over with the logout, and with another person's login under the same profile", async () => {
  const settings = settingsWith(profileOf("duty", "t-1"));
  const token = lastingBearer(settings, ports);
  writeProfile(settings.profilePath, profileOf("relief", "t-2"));
  await expect(token()).rejects.toThrow('The profile "default" is now a login of relief, not of duty.');
  rmSync(settings.profilePath);
  await expect(token()).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
});
