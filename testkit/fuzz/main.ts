// `npm run fuzz -- api|webhook --requests N --seed N [--json]`: starts a platform of its own and sends it wrong requests. api: of every operation that it
// describes, right ones too; webhook: alerts of the charting platform, none of which may become an order. The last line is the result; a violation, or an
// operation that was not reached, is exit 1.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { exitCodes } from "../../contracts/src/codes/shape.ts";
import { logInAs, operatorUrl } from "../login.ts";
import { type Platform, startPlatform } from "../platform.ts";
import { fuzzApi } from "./api-fuzz.ts";
import { fuzzWebhookOf } from "./webhook-platform.ts";

const usage = "Usage: npm run fuzz -- api|webhook [--requests 2000] [--seed 1] [--json]\n";

interface Asked {
  readonly what: "api" | "webhook";
  readonly requests: number;
  readonly seed: number;
  readonly json: boolean;
}

function askedBy(argv: readonly string[]): Asked | undefined {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: { requests: { type: "string" }, seed: { type: "string" }, json: { type: "boolean", default: false } },
  });
  const [requests, seed] = [Number(values.requests ?? 2_000), Number(values.seed ?? 1)];
  const [what, ...more] = positionals;
  const isRight = (what === "api" || what === "webhook") && more.length === 0;
  if (!isRight || !Number.isInteger(requests) || requests < 1 || !Number.isInteger(seed)) return undefined;
  return { what, requests, seed, json: values.json };
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function api(platform: Platform, { requests, seed }: Asked) {
  const result = await fuzzApi({
    operatorUrl: operatorUrl(platform),
    publicUrl: `http://${platform.runFile().addresses["gateway.public"]}`,
    logIn: async (name) => (await logInAs(platform, name)).access_token,
    requests,
    seed,
    say,
  });
  return { result, isGood: result.violations.length === 0 && result.operations === result.operations_covered };
}

async function webhook(platform: Platform, { requests, seed }: Asked) {
  const result = await fuzzWebhookOf(platform, { requests, seed, say });
  return { result, isGood: result.violations.length === 0 && result.accepted === 0 };
}

const environments = {
  // Strangers ask more here than one address may.
  api: { PORTCULLIS_PUBLIC_RATE_PER_S: "200", PORTCULLIS_PUBLIC_BURST: "400" },
  webhook: { PORTCULLIS_TRUSTED_PROXIES: "127.0.0.1" },
};

export async function main(argv: readonly string[]): Promise<number> {
  const asked = askedBy(argv);
  if (asked === undefined) {
    process.stderr.write(usage);
    return exitCodes.usage;
  }
  // The bundle lies in dist/fuzz.
  const root = join(import.meta.dirname, "..", "..");
  const platform = startPlatform({ root, environment: environments[asked.what] });
  try {
    await platform.ready();
    const { result, isGood } = await (asked.what === "api" ? api(platform, asked) : webhook(platform, asked));
    process.stdout.write(`${asked.json ? JSON.stringify(result) : JSON.stringify(result, null, 2)}\n`);
    return isGood ? exitCodes.ok : exitCodes.failed;
  } finally {
    await platform.end();
  }
}
