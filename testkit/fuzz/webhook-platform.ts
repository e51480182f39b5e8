// The charting webhook of a running platform, fuzzed: its funds get secrets, its processes are weighed, and afterwards its orders are counted.
import { readFileSync } from "node:fs";
import { fetchOnNewConnection } from "../http/fetch-on-new-connection.ts";
import { logInAs, operatorUrl } from "../login.ts";
import { eventually, type RunningPlatform } from "../platform.ts";
import { writeFundSecrets } from "../webhook-sender.ts";
import { fuzzWebhook, type WebhookFuzzOptions, type WebhookFuzzResult } from "./webhook-fuzz.ts";
import type { FuzzedFund } from "./webhook-requests.ts";

/** Their strategies are the seeded ones. */
export const fuzzedFunds: readonly FuzzedFund[] = [
  { fundId: "alpha", strategyId: "alpha-momentum", secret: "alpha-fuzzed-0123456789" },
  { fundId: "beta", strategyId: "beta-trend", secret: "beta-fuzzed-0123456789" },
  { fundId: "gamma", strategyId: "gamma-income", secret: "gamma-fuzzed-0123456789" },
];

type Given = Pick<WebhookFuzzOptions, "requests" | "seed" | "say">;

export async function fuzzWebhookOf(
  platform: RunningPlatform,
  given: Given & { readonly funds?: readonly FuzzedFund[] },
): Promise<
  WebhookFuzzResult & {
    /** Alerts that were taken in and orders that came of them: none may. */ readonly accepted: number;
  }
> {
  const funds = given.funds ?? fuzzedFunds;
  if (given.funds === undefined) {
    await writeFundSecrets(platform, Object.fromEntries(funds.map(({ fundId, secret }) => [fundId, secret])));
  }
  const read = async (path: string): Promise<readonly unknown[]> => {
    // A token lasts shorter than a long run.
    const { access_token: token } = await logInAs(platform, "duty");
    const answer = await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as readonly unknown[];
  };
  const countOf = async (status: string): Promise<number> =>
    (await read(`/v1/signals?count_max=500&status=${status}`)).length;
  /** One that was accepted is on its way to be one of the others, and would be counted twice, or not at all. */
  const accepted = async (): Promise<number> => {
    await eventually("accepted alerts are orders", async () => (await countOf("ACCEPTED")) === 0);
    return (await countOf("SUBMITTED")) + (await countOf("FAILED"));
  };
  const before = await accepted();
  const publicUrl = `http://${platform.runFile().addresses["gateway.public"]}`;
  const result = await fuzzWebhook({ ...given, publicUrl, funds, memoryMb: () => memoryMb(platform) });
  return { ...result, accepted: (await accepted()) - before };
}

function memoryMb(platform: RunningPlatform): Readonly<Record<string, number>> {
  const { processes } = platform.runFile();
  const read = ["gateway", "oms"].map((name) => {
    const status = readFileSync(`/proc/${processes[name]}/status`, "utf8");
    return [name, Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1_024)];
  });
  return Object.fromEntries(read);
}
