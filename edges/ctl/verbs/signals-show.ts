// `ctl signals show`: one alert as it came in, and what became of it.
import { wholeSignalId } from "../id-prefix.ts";
import { clean, moment } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const signalsShow: Verb = {
  name: "signals show",
  heading: "Signals",
  sentence: "Show one alert as it was sent, and what became of it.",
  about: "The secret is not kept and not shown. Why the risk engine decided as it did is reported by `ctl why`.",
  arguments: [{ name: "signal_id", sentence: "The signal, as `ctl signals list` shows it." }],
  options: [],
  examples: [{ command: "ctl signals show 0197f2a0c4d87e6e", sentence: "What became of it." }],
  operation: "GetWebhookSignal",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const signalId = await wholeSignalId(client, context.argument("signal_id"));
  const signal = await client.getWebhookSignal({ signalId });
  const { received_at, alert_at, warnings, body, ...facts } = signal;
  const now = context.clock.now();
  const lines: readonly (readonly [string, string])[] = [
    ["received_at", moment(received_at, now)],
    ...(alert_at === undefined ? [] : [["alert_at", moment(alert_at, now)] as const]),
    ...Object.entries(facts).map(([name, value]) => [name, String(value)] as const),
    ...(warnings.length === 0 ? [] : [["warnings", warnings.join(" ")] as const]),
  ];
  const width = Math.max(...lines.map(([name]) => name.length));
  const text = lines.map(([name, value]) => `${name.padEnd(width)}  ${clean(value)}`);
  const sent = body === undefined ? [] : ["", clean(JSON.stringify(body))];
  return { data: signal, text: [...text, ...sent].join("\n") };
}
