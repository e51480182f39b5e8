// What becomes of accepted alerts on a running platform: the same one ten and fifty times at once is one order; a halt, a denial and a silent broker stand in the row,
// and what ended without an approval is reported in chat with its code.
import { expect, test } from "vitest";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { logInAs, operatorUrl } from "../testkit/login.ts";
import { eventually, pause, startPlatform } from "../testkit/platform.ts";
import { alertWith, sendAlert, sendPaced, writeFundSecrets } from "../testkit/webhook-sender.ts";

const secret = "alpha-secret-0123456789";

test("rows and chat say what became of each alert", { timeout: 300_000 }, async () => {
  const platform = startPlatform({ environment: { PORTCULLIS_TRUSTED_PROXIES: "127.0.0.1" } });
  try {
    await platform.ready();
    await writeFundSecrets(platform, { alpha: secret });
    const { access_token: token } = await logInAs(platform, "duty");
    const ask = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
      const answer = await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const read = (await answer.json()) as Record<string, unknown>;
      if (!answer.ok) throw new Error(`${path}: ${JSON.stringify(read)}`);
      return read;
    };
    const accepted = async (changes: Readonly<Record<string, unknown>>): Promise<string> => {
      const { status, body } = await sendPaced(platform, alertWith(secret, changes));
      expect([status, body]).toMatchObject([202, {}]);
      return String(body["signal_id"]);
    };
    const ends = async (signalId: string, wanted: object): Promise<void> => {
      let row: Record<string, unknown> = {};
      await eventually(
        "the row says what became of it",
        async () => {
          row = await ask("GET", `/v1/signals/${signalId}`);
          return row["status"] !== "ACCEPTED" && row["order_state"] !== "ROUTED";
        },
        60_000,
      );
      expect(row).toMatchObject(wanted);
    };
    const inChat = (signalId: string): boolean =>
      platform
        .stdout()
        .split("\n")
        .some(
          (line) =>
            line.includes(`signal ${signalId} failed`) || (line.includes("Alert of") && line.includes(signalId)),
        );

    const body = alertWith(secret);
    const sent = await Promise.all(Array.from({ length: 10 }, () => sendAlert(platform, body)));
    expect(sent.map(({ status }) => status).sort()).toEqual([202, ...Array(9).fill(409)]);
    const [first] = sent.filter(({ status }) => status === 202);
    await ends(String(first?.body["signal_id"]), { status: "SUBMITTED", order_id: first?.body["order_id"] });

    // Forty of them come too often, whatever they are; an order more would be one of fifty.
    // tidy: sleeps because the window of a second, in which others were taken, is to be over
    await pause(1_100);
    const often = alertWith(secret, { symbol: "NASDAQ:AMZN" });
    const fifty = await Promise.all(Array.from({ length: 50 }, () => sendAlert(platform, often)));
    expect(fifty.filter(({ status }) => ![202, 409, 429].includes(status))).toEqual([]);
    const [taken, ...more] = fifty.filter(({ status }) => status === 202);
    expect([taken?.status, more]).toEqual([202, []]);
    await ends(String(taken?.body["signal_id"]), { status: "SUBMITTED", order_id: taken?.body["order_id"] });

    const denied = await accepted({ quantity: "900000" });
    await ends(denied, {
      status: "SUBMITTED",
      order_state: "REJECTED",
      decision_code: expect.stringMatching(/^[A-Z_]+$/),
    });
    await eventually("the denial is in chat", () => inChat(denied), 20_000);

    await ask("PUT", "/v1/oms/paper-weather", {
      broker_silent_until: new Date(Date.now() + 25_000).toISOString(),
      reason: "a drill",
    });
    const silent = await accepted({ symbol: "NASDAQ:MSFT" });
    await ends(silent, { status: "SUBMITTED", order_state: expect.stringMatching(/^(?:UNKNOWN|WORKING|FILLED)$/) });
    // Nobody knows what became of it until the broker speaks again: that is an alarm, and alarms go to chat.
    const beginning = silent.slice(0, 8);
    const isReported = (line: string): boolean => line.includes('"key":"alarm ') && line.includes(beginning);
    await eventually("its silence is in chat", () => platform.stdout().split("\n").some(isReported), 60_000);

    await ask("POST", "/v1/halts", { id: "alpha", reason: "a drill", confirmation: "HALT" });
    const halted = await accepted({});
    await ends(halted, { status: "SUBMITTED", order_state: "REJECTED", decision_code: "ORDER_HALTED" });
    await eventually("the halted one is in chat", () => inChat(halted), 20_000);

    const orders = (await ask("GET", "/v1/oms/orders?fund_id=alpha&count_max=500")) as unknown as {
      readonly order: { readonly order_id: string };
    }[];
    const made = orders.map(({ order }) => order.order_id).filter((id) => id.startsWith("tv-"));
    expect(made.sort()).toEqual(
      [
        String(first?.body["order_id"]),
        String(taken?.body["order_id"]),
        `tv-${denied}`,
        `tv-${silent}`,
        `tv-${halted}`,
      ].sort(),
    );
  } finally {
    await platform.end();
  }
});
