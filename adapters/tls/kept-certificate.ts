// A certificate that is renewed without a restart: its files are read again and again, and a new pair counts for every connection that begins
// after it. A new pair that cannot be used changes nothing but health: the one before goes on. So does one that has run out, because a
// platform that does not start any more cannot halt either.
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import { format, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Health } from "../../ports/health.ts";
import type { Log } from "../../ports/log.ts";
import type { CancelTimer, Timers } from "../../ports/timers.ts";
import type { Alarms } from "../postgres/alarms.ts";
import {
  type CertificateFiles,
  type CertificatePair,
  type CertificateTexts,
  pairOf,
  readTexts,
} from "./certificate-pair.ts";

interface KeptCertificateOptions extends CertificateFiles {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly alarms: Alarms;
  /** Whose it is, for alarms: "the gateway's HTTP server". */
  readonly owner: string;
  /** How often the files are read; default 2,000. */
  readonly everyMs?: number;
}

export interface KeptCertificate {
  current(): CertificatePair;
  /** Called with each new pair. */
  onChange(use: (pair: CertificatePair) => void): void;
  /** Tells of an end that is near, and of new files that cannot be used; failing once it has run out. */
  health(): Health;
  close(): void;
}

const dayMs = 86_400_000;
/** From so many days before its end on, health says so. */
const expiryWarningDays = 14;

/** Rejects with a sentence when the files cannot be used at all. */
export function keepCertificate(options: KeptCertificateOptions): KeptCertificate {
  const { clock, timers, log, alarms, owner, certFile, everyMs = 2_000 } = options;
  const listeners: ((pair: CertificatePair) => void)[] = [];
  let pair = pairOf(readTexts(options), options);
  /** What is wrong with the files as they are now. */
  let complaint: string | undefined;
  /** Seen once: of two files that are replaced one after the other the first look may see one of each. */
  let suspected: string | undefined;
  let next: CancelTimer = () => undefined;

  function look(): void {
    try {
      take(readTexts(options));
      complaint = undefined;
      suspected = undefined;
      alarms.clear("CERTIFICATE_UNUSABLE", owner);
    } catch (thrown) {
      object(messageOf(thrown));
    }
    warn();
    next = timers.after(everyMs, look);
  }

  /** Reading them is cheap, understanding them is not: nothing is done about texts that are served already. */
  function take(texts: CertificateTexts): void {
    if (texts.cert === pair.cert && texts.key === pair.key && texts.ca === pair.ca) return;
    const found = pairOf(texts, options);
    const now = clock.now();
    if (found.expiresAt <= now) throw refused(`The new certificate in ${certFile} ran out on ${day(found)}.`);
    if (found.validFrom > now) {
      throw refused(`The new certificate in ${certFile} is not valid before ${format(found.validFrom)}.`);
    }
    pair = found;
    log.info("a new certificate is served", { file: certFile, expires_at: format(found.expiresAt) });
    for (const use of listeners) use(found);
  }

  function object(sentence: string): void {
    if (suspected !== sentence) {
      suspected = sentence;
      return;
    }
    if (complaint === sentence) return;
    complaint = sentence;
    log.error("the certificate's files cannot be used; the one before is served", { why: sentence });
    alarms.raise("CERTIFICATE_UNUSABLE", owner, `${sentence} The one before is still served by ${owner}.`);
  }

  function warn(): void {
    const sentence = expiryOf();
    if (sentence === undefined) alarms.clear("CERTIFICATE_EXPIRING", owner);
    else alarms.raise("CERTIFICATE_EXPIRING", owner, sentence);
  }

  /** What there is to say about its end. */
  function expiryOf(): string | undefined {
    const leftMs = millisecondsBetween(clock.now(), pair.expiresAt);
    if (leftMs > expiryWarningDays * dayMs) return undefined;
    if (leftMs <= 0) return `The certificate in ${certFile} ran out on ${day(pair)}: put a new one there.`;
    const days = Math.ceil(leftMs / dayMs);
    return `The certificate in ${certFile} runs out on ${day(pair)}, in ${days === 1 ? "1 day" : `${days} days`}: put a new one there.`;
  }

  function health(): Health {
    const expiry = expiryOf();
    const said = [complaint, expiry].filter((each) => each !== undefined).join(" ");
    const status = pair.expiresAt <= clock.now() ? "failing" : "ok";
    return said === "" ? { status } : { status, complaint: said };
  }

  warn();
  next = timers.after(everyMs, look);
  return {
    current: () => pair,
    onChange: (use) => void listeners.push(use),
    health,
    close: () => next(),
  };
}

const day = ({ expiresAt }: CertificatePair): string => format(expiresAt).slice(0, 10);

function refused(sentence: string): Fault {
  return new Fault("CONFIGURATION_INVALID", sentence, { retry: "never" });
}
