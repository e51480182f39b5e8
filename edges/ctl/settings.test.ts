// Flag, environment, file, default: every combination of where a server and a profile can be named, and names that try to be paths.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeProfile } from "./login/profile.ts";
import { configFolder, isLoopback, profilePathOf, resolveSettings } from "./settings.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-settings-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const stored = {
  server: "http://127.0.0.1:3333",
  issuer: "http://127.0.0.1:3333/oidc",
  client_id: "c",
  audience: "a",
  name: "duty",
  token: "t",
  token_kind: "access_token",
  expires_at: "2026-11-15T00:00:00Z",
} as const;

describe("the server", () => {
  const sources = { flag: "http://127.0.0.1:1111", environment: "http://127.0.0.1:2222", file: stored.server };
  for (const flag of [true, false]) {
    for (const environment of [true, false]) {
      for (const file of [true, false]) {
        it(`with${flag ? "" : "out"} flag, with${environment ? "" : "out"} variable, with${file ? "" : "out"} file`, () => {
          const variables = { XDG_CONFIG_HOME: home, ...(environment ? { PORTCULLIS_URL: sources.environment } : {}) };
          if (file) writeProfile(profilePathOf(variables, "default"), stored);
          const { server } = resolveSettings(flag ? { server: sources.flag } : {}, variables);
          const [value, from] = flag
            ? [sources.flag, "--server"]
            : environment
              ? [sources.environment, "PORTCULLIS_URL"]
              : file
                ? [sources.file, profilePathOf(variables, "default")]
                : ["http://127.0.0.1:8080", "default"];
          expect(server).toEqual({ value, from });
        });
      }
    }
  }

  it("is spelt one way, so that two spellings of one server are equal", () => {
    const spelt = (server: string) => resolveSettings({ server }, { XDG_CONFIG_HOME: home }).server.value;
    expect(spelt("HTTP://LocalHost:80/")).toBe("http://localhost");
    expect(spelt("https://desk.example.com/portcullis//")).toBe("https://desk.example.com/portcullis");
  });

  it.each(["desk", "ftp://x", "http://u:p@x", "http://x?a=1", "http://x#f", ""])("refuses %j", (server) => {
    expect(() => resolveSettings({ server }, { XDG_CONFIG_HOME: home })).toThrow(/server from --server/);
  });
});

describe("the profile", () => {
  it("is named by the flag, then the variable, then is the default", () => {
    const both = { XDG_CONFIG_HOME: home, PORTCULLIS_PROFILE: "b" };
    expect(resolveSettings({ profile: "a" }, both).profile).toEqual({ value: "a", from: "--profile" });
    expect(resolveSettings({}, both).profile).toEqual({ value: "b", from: "PORTCULLIS_PROFILE" });
    expect(resolveSettings({}, { XDG_CONFIG_HOME: home }).profile).toEqual({ value: "default", from: "default" });
    expect(resolveSettings({}, { ...both, PORTCULLIS_PROFILE: "" }).profile.value).toBe("default");
  });

  it.each(["..", "../x", "a/b", "a\\b", ".hidden", "", "a b", "a\n", "-x", "x".repeat(65), "a\0"])(
    "refuses %j",
    (profile) => {
      expect(() => resolveSettings({ profile }, { XDG_CONFIG_HOME: home })).toThrow(/profile name from --profile/);
    },
  );
});

describe("the token", () => {
  it("comes from the environment as it is, without line breaks", () => {
    const variables = { XDG_CONFIG_HOME: home, PORTCULLIS_TOKEN: "pcs_1_abc\n" };
    expect(resolveSettings({}, variables).token).toBe("pcs_1_abc");
    expect(() => resolveSettings({}, { ...variables, PORTCULLIS_TOKEN: "a\r\nb: c" })).toThrow(/PORTCULLIS_TOKEN/);
  });
});

it("ignores a relative XDG_CONFIG_HOME", () => {
  expect(configFolder({ HOME: "/home/x", XDG_CONFIG_HOME: "relative" })).toBe("/home/x/.config/portcullis");
});

it("knows this machine by its addresses only", () => {
  for (const address of ["http://127.0.0.1:1", "http://127.9.9.9", "http://[::1]:2", "http://localhost"]) {
    expect(isLoopback(address), address).toBe(true);
  }
  for (const address of [
    "http://127.0.0.1.evil.example",
    "http://localhost.evil.example",
    "http://10.0.0.1",
    "http://128.0.0.1",
  ]) {
    expect(isLoopback(address), address).toBe(false);
  }
});
