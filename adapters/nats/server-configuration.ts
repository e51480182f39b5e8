// The sample configuration of a nats-server, deploy/nats/nats-server.conf: one user per service, whose permissions come from
// the table of authority. What protects subjects on NATS are these permissions: anybody may write any source into a header.
//
//  1. Durable events of our services reach NATS through the outbox relay, which runs in operations: its user may publish every
//     subject, the others none. What a service may write to the outbox is checked in its own process (publish-authority.ts).
//  2. Prices are not relayed: whoever may publish them does so itself.
//  3. A program in the place of our order management, treasury or feed publishes what contracts/src/foreign-events.ts lists for it, and nothing else. It hears what
//     concerns it, also through durable consumers whose names and filters are fixed: nobody else's consumer, and no other subject.
//     It may publish below the prefix of its login too, where its name stands in the subject; a login of your own may publish there alone.
//  4. Everybody has an inbox of their own, so that nobody reads or answers another's requests.
import { publishers } from "../../contracts/src/authority.ts";
import {
  byEveryLogin,
  type ForeignPublisher,
  foreignPublishers,
  loginSubject,
} from "../../contracts/src/foreign-events.ts";
import { type PlatformService, platformServices } from "../../contracts/src/platform-services.ts";
import { eventByName, everySubject, subjects } from "../../contracts/src/subjects.ts";
import { streamName } from "./stream.ts";
import { conflatedName, ownName } from "./wire.ts";

const relayer: PlatformService = "operations";

interface NatsUser {
  readonly name: string;
  readonly sentence: string;
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** Under this a user's answers arrive; it is below the usual prefix, so that permissions for that one fit as well. */
export function inboxPrefix(user: string): string {
  return `_INBOX.${user}`;
}

export function natsUsers(): readonly NatsUser[] {
  return [...platformServices.map(serviceUser), ...foreignPublishers.map(foreignUser)];
}

function serviceUser(service: PlatformService): NatsUser {
  const prices = subjectsOf(service).filter(({ delivery }) => delivery === "conflated");
  const relays = service === relayer;
  const own = [
    ...(relays ? [everySubject] : []),
    ...prices.map(({ name }) => conflatedName(name)),
    ...(prices.length > 0 ? [ownName(everySubject)] : []),
  ];
  return {
    name: service,
    sentence: relays
      ? "Relays the outbox for all services, and trims the stream."
      : "Publishes through the outbox; on NATS it only listens.",
    publish: [...own, ...jetStreamSubjects, ...(relays ? [purge] : [])],
    subscribe: [...heard, `${inboxPrefix(service)}.>`],
  };
}

/** One of the three that always were: their subjects without a prefix mean them. */
function foreignUser(publisher: ForeignPublisher): NatsUser {
  const user = loginUser(publisher);
  const { publish } = user;
  return { ...user, publish: [...publisher.subjects.map((subject) => wireName(subject, subject)), ...publish] };
}

/** A program outside: what it publishes stands below its own prefix. */
function loginUser({ login: name, sentence, subjects: own, hears }: ForeignPublisher): NatsUser {
  const values = own.includes(subjects.navUpdated.name);
  return {
    name,
    sentence,
    publish: [
      ...own.map((subject) => wireName(subject, loginSubject(name, subject))),
      "$JS.API.INFO",
      `$JS.API.STREAM.INFO.${stream}`,
      ...hears.flatMap(({ name: consumer, filter }) => [
        // The filter stands in the subject, so that it can be held to; a consumer that is asked for without one is not permitted.
        `$JS.API.CONSUMER.CREATE.${stream}.${consumer}.${filter}`,
        `$JS.API.CONSUMER.INFO.${stream}.${consumer}`,
        `$JS.API.CONSUMER.DELETE.${stream}.${consumer}`,
        `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`,
        `$JS.ACK.${stream}.${consumer}.>`,
      ]),
    ],
    subscribe: [
      ...hears.map(({ filter }) => filter),
      // Whoever values funds hears prices.
      ...(values ? [conflatedName(subjects.marketMarks.name)] : []),
      `${inboxPrefix(name)}.>`,
    ],
  };
}

function wireName(subject: string, name: string): string {
  return eventByName(subject)?.delivery === "durable" ? name : conflatedName(name);
}

/** A login of somebody's own for a program that does all three: orders and fills, values, prices. */
function ownLogin(login: string): NatsUser {
  const heardAs = new Map<string, string>();
  for (const { login: of, hears } of foreignPublishers)
    for (const { name, filter } of hears) heardAs.set(filter, `${login}${name.slice(of.length)}`);
  return loginUser({
    login,
    sentence: "A program of your own, below a prefix of its own.",
    operation: "PublishOrders",
    subjects: foreignPublishers.flatMap(({ subjects: names }) => names),
    hears: [...heardAs].map(([filter, name]) => ({ name, filter })),
  });
}

function subjectsOf(service: PlatformService) {
  return (Object.keys(subjects) as (keyof typeof subjects)[])
    .filter((key) => publishers[key].includes(service))
    .map((key) => ({
      name: subjects[key].name,
      delivery: subjects[key].delivery,
    }));
}

const stream = streamName({ subjects: [] });
const heard = [
  everySubject,
  conflatedName(everySubject),
  ownName(everySubject),
  byEveryLogin(everySubject),
  conflatedName(byEveryLogin(everySubject)),
];

/** What a durable subscription asks of JetStream, and no more: no other stream, no deleting, no changing of ours. */
const jetStreamSubjects: readonly string[] = [
  "$JS.API.INFO",
  `$JS.API.STREAM.INFO.${stream}`,
  // Whoever starts first makes the stream; one that exists is not changed by this.
  `$JS.API.STREAM.CREATE.${stream}`,
  `$JS.API.STREAM.MSG.GET.${stream}`,
  `$JS.API.CONSUMER.LIST.${stream}`,
  `$JS.API.CONSUMER.INFO.${stream}.*`,
  `$JS.API.CONSUMER.CREATE.${stream}.>`,
  `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.*`,
  `$JS.API.CONSUMER.DELETE.${stream}.*`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
  `$JS.ACK.${stream}.>`,
];
const purge = `$JS.API.STREAM.PURGE.${stream}`;

export function passwordVariable(user: string): string {
  return `NATS_PASSWORD_${user.replaceAll("-", "_").toUpperCase()}`;
}

/** The block `authorization` alone, for a configuration of your own. */
export function natsAuthorization(): string {
  const own = userBlock(ownLogin(exampleLogin)).split("\n");
  const commented = own.map((line) => line.replace(/^ {4}/, "    # ")).join("\n");
  const users = [...natsUsers().map(userBlock), exampleSentence, commented];
  return ["authorization {", "  users: [", users.join("\n"), "  ]", "}"].join("\n");
}

const exampleLogin = "desk";
const exampleSentence = `    # To give a program a login of its own: take these signs away and call it as you like, everywhere the name stands.`;

function userBlock({ name, sentence, publish, subscribe }: NatsUser): string {
  return [
    `    # ${sentence}`,
    "    {",
    `      user: ${JSON.stringify(name)}, password: $${passwordVariable(name)}`,
    "      permissions {",
    ...list("publish", publish),
    ...list("subscribe", subscribe),
    "      }",
    "    }",
  ].join("\n");
}

function list(title: string, names: readonly string[]): readonly string[] {
  return [`        ${title}: [`, ...names.map((name) => `          ${JSON.stringify(name)}`), "        ]"];
}

/** The whole of deploy/nats/nats-server.conf. */
export function natsServerConfiguration(): string {
  return `${[
    "# Generated by `npm run gen` from contracts/src/authority.ts; do not edit. How to use it: docs/nats.md.",
    "# A nats-server for Portcullis: JetStream on, one user per service, each with what it needs and nothing else.",
    "",
    "host: 127.0.0.1",
    "port: 4222",
    "max_payload: 1MB",
    "",
    "jetstream {",
    '  store_dir: "/var/lib/nats"',
    "  max_file_store: 8GB",
    "  # From server 2.10 on, uncomment: by default JetStream answers up to two minutes before its disk has a message. The relay",
    "  # sends again what a server lost that way; with this line there is nothing to send again, at the price of throughput.",
    "  # sync_interval: always",
    "}",
    "",
    "# Every password comes from the environment of the server; it must not begin with a digit (the server would read a number).",
    "# Prices travel under `transient.` and are never stored.",
    natsAuthorization(),
  ].join("\n")}\n`;
}
