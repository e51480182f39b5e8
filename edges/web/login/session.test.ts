// The login of a tab: renewed once for everybody who asks, a refresh token never sent twice, and a logout that no server can hold up.
import { describe, expect, test } from "vitest";
import { fromUnixMs, plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { Tokens } from "./oidc.ts";
import { openSession } from "./session.ts";

function fixture(
  refreshed: (token: string) => Promise<Tokens | undefined>,
  silent?: () => Promise<Tokens | undefined>,
) {
  let now = fromUnixMs(1_800_000_000_000);
  const posted: unknown[] = [];
  const sent: string[] = [];
  const channel: { onmessage: ((event: MessageEvent) => unknown) | null; postMessage(data: unknown): void } = {
    onmessage: null,
    postMessage: (data) => posted.push(data),
  };
  const session = openSession(
    { token: "first", refreshToken: "r1", lastsS: 300 },
    {
      clock: { now: () => now },
      timers: { sleep: () => new Promise((resolve) => setTimeout(resolve, 20)) },
      provider: {
        begin: async () => undefined,
        silently: silent ?? (async () => undefined),
        refresh: (token) => {
          sent.push(token);
          return refreshed(token);
        },
      },
      channel: channel as Pick<BroadcastChannel, "postMessage" | "onmessage">,
      returnTo: () => "/risk",
    },
  );
  const pass = (ms: number): void => {
    now = plusMilliseconds(now, ms);
  };
  return { session, posted, sent, channel, pass };
}

describe("a login", () => {
  test("is renewed once for all who ask meanwhile", async () => {
    const { session, sent, pass } = fixture(async () => ({ token: "second", refreshToken: "r2", lastsS: 300 }));
    expect(await session.token()).toBe("first");
    pass(290_000);
    expect(await Promise.all([session.token(), session.token(), session.token()])).toEqual(Array(3).fill("second"));
    pass(290_000);
    await session.token();
    expect(sent).toEqual(["r1", "r2"]);
  });

  test("does not send a refresh token again whose answer was lost: the browser's login is taken up instead", async () => {
    const { session, sent, pass } = fixture(
      async () => undefined,
      async () => ({ token: "by the browser", refreshToken: undefined, lastsS: 300 }),
    );
    pass(290_000);
    expect(await session.token()).toBe("by the browser");
    pass(290_000);
    expect(await session.token()).toBe("by the browser");
    expect(sent).toEqual(["r1"]);
  });

  test("that cannot be renewed has expired, and asks no more", async () => {
    const { session, sent, pass } = fixture(async () => undefined);
    pass(290_000);
    expect([await session.token(), await session.token(), session.state()]).toEqual([undefined, undefined, "expired"]);
    expect(sent).toEqual(["r1"]);
  });

  test("ends in every tab, and says when the server did not confirm it", async () => {
    const good = fixture(async () => undefined);
    let sentWith: string | undefined;
    await good.session.logOut(async () => {
      expect([good.session.state(), good.posted]).toEqual(["out", ["logged out"]]);
      sentWith = await good.session.token();
      return {};
    });
    expect([sentWith, await good.session.token()]).toEqual(["first", undefined]);
    const told = ["logged out", "the server confirmed it"];
    expect([good.session.state(), good.posted, good.session.serverEnd()]).toEqual(["out", told, "confirmed"]);
    const silent = fixture(async () => undefined);
    await silent.session.logOut(() => new Promise(() => undefined));
    expect([silent.session.state(), silent.posted]).toEqual(["out", ["logged out"]]);
    expect(silent.session.serverEnd()).toBe("unconfirmed");
    const refused = fixture(async () => undefined);
    await refused.session.logOut(() => Promise.reject(new Error("unreachable")));
    expect([refused.session.state(), refused.session.serverEnd()]).toEqual(["out", "unconfirmed"]);
    const other = fixture(async () => undefined);
    other.channel.onmessage?.({ data: "logged out" } as MessageEvent);
    expect([other.session.state(), await other.session.token()]).toEqual(["out", undefined]);
    // A tab that did not ask says no sooner that it is done than the one that did.
    expect(other.session.serverEnd()).toBe("asked");
    other.channel.onmessage?.({ data: "the server confirmed it" } as MessageEvent);
    expect(other.session.serverEnd()).toBe("confirmed");
  });

  test("whose token has run out is ended with another one, and what goes on is kept for the page", async () => {
    const stale = fixture(async () => ({ token: "second", refreshToken: "r2", lastsS: 300 }));
    stale.pass(290_000);
    const device = {
      session_id: "a",
      program: "ctl on desk-7",
      address: "10.0.0.7",
      approved_at: "2026-11-19T08:00:00Z",
    };
    let sentWith: string | undefined;
    await stale.session.logOut(async () => {
      sentWith = await stale.session.token();
      return { device_logins: [device] };
    });
    expect([sentWith, stale.sent, stale.session.serverEnd()]).toEqual(["second", ["r1"], "confirmed"]);
    expect(stale.session.deviceLogins()).toEqual([device]);
    expect([await stale.session.token(), stale.session.state()]).toEqual([undefined, "out"]);

    // In the middle of a renewal: its token is used, and not dropped.
    let answer: (tokens: Tokens) => void = () => undefined;
    const busy = fixture(() => new Promise((resolve) => (answer = resolve)));
    busy.pass(290_000);
    const asked = busy.session.token();
    const out = busy.session.logOut(async () => {
      sentWith = await busy.session.token();
      return {};
    });
    answer({ token: "third", refreshToken: "r3", lastsS: 300 });
    await out;
    expect([sentWith, await asked, busy.sent]).toEqual(["third", undefined, ["r1"]]);
  });
});
