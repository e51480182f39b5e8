// The secrets of the repository bot in the secrets store: the App's key, the secret that signs deliveries, and the one before it for ten minutes after a change.
//
//  1. What is known is read again after five seconds; a signature that fits none is looked up once more when what is known is older than a quarter of a second.
//  2. The one before is written first: whoever dies in between has changed nothing that GitHub signs with.
import { z } from "zod";
import { format, parse, plusMilliseconds } from "../../contracts/src/instant.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import { instantText } from "../../contracts/src/records/fields.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Secrets } from "../../ports/secrets.ts";

const overlapMs = 10 * 60_000;
const knownMsMax = 5_000;

interface BotSecretPaths {
  readonly privateKey: string;
  readonly webhookSecret: string;
  readonly previous: string;
}

/** `folder` is `secret/<prefix>`. */
function botSecretPaths(folder: string): BotSecretPaths {
  return {
    privateKey: `${folder}/githubbot/private_key`,
    webhookSecret: `${folder}/githubbot/webhook_secret`,
    previous: `${folder}/githubbot/previous_webhook_secret`,
  };
}

const previousForm = z.object({ value: z.string(), valid_until: instantText });

export interface HookSecrets {
  /** Rejects when the store does not answer. */
  good(): Promise<readonly string[]>;
  /** The key and secret as they are; undefined where there is none. */
  read(): Promise<{ readonly privateKey: string; readonly webhookSecret: string } | undefined>;
  put(next: { readonly privateKey: string; readonly webhookSecret: string }, actor: string): Promise<void>;
  /** The store forgets nothing by itself: each is written over with nothing. */
  clear(actor: string): Promise<void>;
}

interface HookSecretsPorts {
  readonly secrets: Pick<Secrets, "get" | "put">;
  readonly clock: Clock;
  readonly folder: string;
}

export function hookSecrets({ secrets, clock, folder }: HookSecretsPorts): HookSecrets {
  const paths = botSecretPaths(folder);
  let known: { readonly at: number; readonly good: readonly Good[] } | undefined;
  let reading: Promise<readonly Good[]> | undefined;

  async function lookUp(): Promise<readonly Good[]> {
    const [secret, previous] = await Promise.all([secrets.get(paths.webhookSecret), secrets.get(paths.previous)]);
    if (secret === undefined || secret.value === "") return [];
    const before = previousForm.safeParse(readJson(previous?.value)).data;
    return [
      { value: secret.value },
      ...(before === undefined ? [] : [{ value: before.value, until: parse(before.valid_until) }]),
    ];
  }

  function lookUpOnce(): Promise<readonly Good[]> {
    reading ??= lookUp()
      .then((good) => {
        known = { at: clock.now(), good };
        return good;
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  }

  return {
    async good() {
      const now = clock.now();
      const isFresh = known !== undefined && now - known.at < knownMsMax * 1_000 && now >= known.at;
      const found = isFresh && known !== undefined ? known.good : await lookUpOnce();
      return found.filter(({ until }) => until === undefined || now < until).map(({ value }) => value);
    },
    async read() {
      const [key, secret] = await Promise.all([secrets.get(paths.privateKey), secrets.get(paths.webhookSecret)]);
      if (key === undefined || key.value === "" || secret === undefined || secret.value === "") return undefined;
      return { privateKey: key.value, webhookSecret: secret.value };
    },
    async put(next, actor) {
      const before = await secrets.get(paths.webhookSecret);
      if (before !== undefined && before.value !== "" && before.value !== next.webhookSecret) {
        const until = format(plusMilliseconds(clock.now(), overlapMs));
        await secrets.put(paths.previous, JSON.stringify({ value: before.value, valid_until: until }), { actor });
      }
      await secrets.put(paths.privateKey, next.privateKey, { actor });
      await secrets.put(paths.webhookSecret, next.webhookSecret, { actor });
      known = undefined;
    },
    async clear(actor) {
      for (const path of [paths.webhookSecret, paths.previous, paths.privateKey]) {
        if ((await secrets.get(path)) !== undefined) await secrets.put(path, "", { actor });
      }
      known = undefined;
    },
  };
}

interface Good {
  readonly value: string;
  readonly until?: number;
}

function readJson(text: string | undefined): unknown {
  if (text === undefined || text === "") return undefined;
  return parseJson(text);
}
