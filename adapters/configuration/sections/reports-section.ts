// The section `reports` of the configuration: which reports are made by the clock, and where mail and files go.
import { z } from "zod";
import { reportTargets, reportWords, scheduledReports } from "../../../contracts/src/records/report-schedule.ts";
import { hasMoments, isTimeZone } from "../../cron/cron-moments.ts";
import { key } from "../key-facts.ts";
import { clearText, id, idExpected, path, pathExpected, section, text, whole } from "../key-forms.ts";
import { isCron, isHost, isHttpUrl } from "../value-forms.ts";

const windowForm = /^(1d|7d|30d|90d|1y|mtd|qtd|ytd|itd)$/;
const addressForm = /^[^\s<>@,;:"\\()[\]]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?$/;
const mailAddress = () => z.string().regex(addressForm);

export const nameSaysReport = `\`report\` beside it, one of ${scheduledReports.join(", ")}; or a name that has exactly one of the words ${Object.keys(reportWords).join(", ")}`;

const schedule = section({
  cron: key(
    z.string().refine((line) => isCron(line) && hasMoments(line)),
    { sentence: "When it runs.", expected: "a cron line of five fields, such as 0 6 * * MON-FRI, that comes due" },
  ),
  time_zone: key(z.string().refine(isTimeZone).default("UTC"), {
    sentence:
      "The time zone of `cron`. A time that a clock change skips runs right after the gap, one that comes twice runs the first time.",
    expected: "a time zone such as America/New_York",
  }),
  report: key(z.enum(scheduledReports).optional(), {
    sentence: "Which report it is.",
    whenAbsent: "what the schedule's name says: `daily-nav` is nav_report",
  }),
  window: key(z.string().regex(windowForm).optional(), {
    sentence: "Which days it covers, up to the day on which it is due.",
    expected: "one of 1d, 7d, 30d, 90d, 1y, mtd, qtd, ytd, itd",
    whenAbsent: "30d; a settlement report covers the year of the day before, a risk report what holds then",
  }),
  funds: key(
    z
      .array(key(id(), { sentence: "A fund id.", expected: idExpected }))
      .min(1)
      .optional(),
    {
      sentence: "Which funds it covers.",
      expected: "a list of at least one fund id",
      whenAbsent: "all funds",
    },
  ),
  distribute: key(z.array(z.enum(reportTargets)).min(1), {
    sentence: "Where the report goes.",
    expected: "a list of at least one of email, chat, pdf-to-storage",
  }),
});

const email = section({
  provider: key(z.enum(["file", "smtp"]).default("file"), {
    sentence: "How reports are mailed: as .eml files in `<data dir>/mail`, or by a mail server.",
    environment: "PORTCULLIS_REPORTS_EMAIL_PROVIDER",
  }),
  host: key(z.string().refine(isHost).optional(), {
    sentence: "The mail server.",
    environment: "PORTCULLIS_REPORTS_EMAIL_HOST",
    expected: "a host name or address, without a port",
    whenAbsent: "none; needed with `smtp`",
  }),
  port: key(whole(1, 65_535).default(587), {
    sentence: "The mail server's port.",
    environment: "PORTCULLIS_REPORTS_EMAIL_PORT",
  }),
  tls: key(z.enum(["starttls", "implicit", "none"]).default("starttls"), {
    sentence: "Whether TLS begins with STARTTLS, which must succeed, at once (usually port 465), or not at all.",
    environment: "PORTCULLIS_REPORTS_EMAIL_TLS",
  }),
  insecure: clearText("a mail server", "PORTCULLIS_REPORTS_EMAIL_INSECURE"),
  user: key(text(256).optional(), {
    sentence: "Who logs in there; the password is the secret `secret/<prefix>/mail/password`.",
    environment: "PORTCULLIS_REPORTS_EMAIL_USER",
    expected: "text of 1 to 256 characters",
    whenAbsent: "no login",
  }),
  from: key(mailAddress().default("portcullis@localhost"), {
    sentence: "Whose mail it is.",
    environment: "PORTCULLIS_REPORTS_EMAIL_FROM",
    expected: "an address such as reports@example.com",
  }),
  to: key(
    z
      .array(key(mailAddress(), { sentence: "A recipient.", expected: "an address such as investors@example.com" }))
      .max(100)
      .default([]),
    {
      sentence: "Who gets the reports that go out by `email`; in the environment a comma-separated list.",
      environment: "PORTCULLIS_REPORTS_EMAIL_TO",
      expected: "a list of addresses, 100 at most",
    },
  ),
});

const storage = section({
  provider: key(z.enum(["folder", "s3"]).default("folder"), {
    sentence: "Where `pdf-to-storage` puts reports: in a folder, or in a bucket of an S3-compatible service.",
    environment: "PORTCULLIS_REPORTS_STORAGE_PROVIDER",
  }),
  folder: key(path().optional(), {
    sentence: "The folder.",
    environment: "PORTCULLIS_REPORTS_STORAGE_FOLDER",
    expected: pathExpected("a folder"),
    whenAbsent: "`reports` in the data folder",
  }),
  endpoint: key(z.string().refine(isHttpUrl).optional(), {
    sentence: "Where the service answers; buckets are addressed by path.",
    environment: "PORTCULLIS_REPORTS_STORAGE_ENDPOINT",
    expected: "a URL such as https://s3.eu-central-1.amazonaws.com",
    whenAbsent: "none; needed with `s3`",
  }),
  insecure: clearText("a storage service", "PORTCULLIS_REPORTS_STORAGE_INSECURE"),
  region: key(
    z
      .string()
      .regex(/^[a-z0-9-]{1,64}$/)
      .default("us-east-1"),
    {
      sentence: "The region that requests are signed for.",
      environment: "PORTCULLIS_REPORTS_STORAGE_REGION",
      expected: "a region such as eu-central-1",
    },
  ),
  bucket: key(
    z
      .string()
      .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/)
      .optional(),
    {
      sentence: "The bucket.",
      environment: "PORTCULLIS_REPORTS_STORAGE_BUCKET",
      expected: "a bucket's name: 3 to 63 lower-case letters, digits, dots and dashes",
      whenAbsent: "none; needed with `s3`",
    },
  ),
  prefix: key(
    z
      .string()
      .regex(/^(?:[A-Za-z0-9][A-Za-z0-9._-]{0,99}(?:\/(?!$)|$)){0,8}$/)
      .default(""),
    {
      sentence: "What stands before every key in the bucket.",
      environment: "PORTCULLIS_REPORTS_STORAGE_PREFIX",
      expected: "names divided by slashes, without one at the end",
    },
  ),
  access_key_id: key(text(128).optional(), {
    sentence: "The access key; its secret is `secret/<prefix>/storage/secret-access-key`.",
    environment: "PORTCULLIS_REPORTS_STORAGE_ACCESS_KEY_ID",
    expected: "text of 1 to 128 characters",
    whenAbsent: "none; needed with `s3`",
  }),
});

export const reports = section({
  schedule: z.record(id(), schedule).default({}),
  email: email.prefault({}),
  storage: storage.prefault({}),
});
