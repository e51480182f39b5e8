// The charting webhook of a platform whose database stands still: the sender is answered before it gives up, and its resend is taken once.
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually, type Platform, startPlatform } from "../testkit/platform.ts";
import { alertWith, databaseProcesses, sendAlert, sendPaced, writeFundSecrets } from "../testkit/webhook-sender.ts";

const secret = "alpha-secret-0123456789";
let platform: Platform;

beforeAll(async () => {
  platform = startPlatform({ environment: { PORTCULLIS_TRUSTED_PROXIES: "127.0.0.1" } });
  await platform.ready();
  await writeFundSecrets(platform, { alpha: secret });
}, 180_000);
afterAll(() => platform.end());

/** A charting platform gives up after three seconds. */
const senderMs = 3_000;

test("an alert is refused in time while the database stands still, and its resend is taken once", async () => {
  await eventually("alerts are taken", async () => (await sendPaced(platform, alertWith(secret))).status === 202);
  const body = alertWith(secret);
  const stopped = databaseProcesses(platform);
  const signal = (name: "SIGSTOP" | "SIGCONT") => stopped.map((pid) => process.kill(pid, name));
  // A machine that stood still meanwhile is asked again.
  let tookMs = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 4 && tookMs >= senderMs; tries += 1) {
    signal("SIGSTOP");
    const late = await sendAlert(platform, body).finally(() => signal("SIGCONT"));
    expect([late.status, late.headers.get("retry-after")]).toEqual([503, "5"]);
    tookMs = late.tookMs;
  }
  expect(tookMs).toBeLessThan(senderMs);
  await eventually(
    "the resend is taken once",
    async () => {
      const again = await sendPaced(platform, body);
      const isSame =
        again.status === 409 && again.body["code"] === "WEBHOOK_KEY_DUPLICATE" && again.body["original"] !== undefined;
      return again.status === 202 || isSame;
    },
    20_000,
  );
}, 90_000);
