// A process for the tests to kill: it counts one secret up and says each version once it is acknowledged.
// Arguments: the secrets file, the key file, how many rotations (0 = until killed).

import { openFileSecrets } from "../../adapters/secrets-file/file-secrets.ts";
import { systemClock } from "../../adapters/system/clock.ts";
import { systemRandom } from "../../adapters/system/random.ts";
import { systemTimers } from "../../adapters/system/timers.ts";
import type { Log } from "../../ports/log.ts";

const [file = "", keyPath = "", rounds = "0"] = process.argv.slice(2);
const ignore = (): void => undefined;
const log: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore, with: () => log };
const secrets = await openFileSecrets({
  file,
  key: { kind: "key file", path: keyPath },
  lockWaitMsMax: 20_000,
  clock: systemClock(),
  timers: systemTimers(),
  random: systemRandom(),
  log,
});
for (let round = 0; rounds === "0" || round < Number(rounds); round += 1) {
  const { version } = await secrets.rotate("secret/portcullis/counter", (now) => String(Number(now?.value ?? "0") + 1));
  process.stdout.write(`${version}\n`);
}
await secrets.close();
