// `npm run fuzz -- api --requests N --seed N [--json]`: starts a platform of its own, reads what it says of its interfaces, and sends it requests of every
// operation, right and wrong ones. The last line is the result; a violation, or an operation that was not reached, is exit 1.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { logInAs, operatorUrl } from "../login.ts";
import { startPlatform } from "../platform.ts";
import { fuzzApi } from "./api-fuzz.ts";

const usage = "Usage: npm run fuzz -- api [--requests 2000] [--seed 1] [--json]\n";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { requests: { type: "string" }, seed: { type: "string" }, json: { type: "boolean" } },
});
const [requests, seed] = [Number(values.requests ?? 2_000), Number(values.seed ?? 1)];
if (positionals.join() !== "api" || !Number.isInteger(requests) || requests < 1 || !Number.isInteger(seed)) {
  process.stderr.write(usage);
  process.exit(2);
}

// The bundle lies in dist/fuzz.
const root = join(import.meta.dirname, "..", "..");
const platform = startPlatform({
  root,
  // Strangers ask more here than one address may.
  environment: { PORTCULLIS_PUBLIC_RATE_PER_S: "200", PORTCULLIS_PUBLIC_BURST: "400" },
});
try {
  await platform.ready();
  const result = await fuzzApi({
    operatorUrl: operatorUrl(platform),
    publicUrl: `http://${platform.runFile().addresses["gateway.public"]}`,
    logIn: async (name) => (await logInAs(platform, name)).access_token,
    requests,
    seed,
    say: (line) => process.stderr.write(`${line}\n`),
  });
  process.stdout.write(`${values.json ? JSON.stringify(result) : JSON.stringify(result, null, 2)}\n`);
  process.exitCode = result.violations.length === 0 && result.operations === result.operations_covered ? 0 : 1;
} finally {
  await platform.end();
}
