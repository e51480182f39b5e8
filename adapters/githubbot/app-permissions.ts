// What the App may hold at GitHub and what it must hold: more than the bot needs is refused at the install, because whoever steals the key holds it all.
import type { AppAtGithub, InstallationAtGithub } from "../../ports/githubbot.ts";

/** Each with the most that it may be, which is also what it must be. */
const neededPermissions: Readonly<Record<string, "read" | "write">> = {
  metadata: "read",
  members: "read",
  repository_advisories: "read",
  contents: "write",
  issues: "write",
  pull_requests: "write",
};

const neededEvents = ["issues", "issue_comment", "pull_request", "release", "repository_advisory"] as const;

const rank: Readonly<Record<string, number>> = { none: 0, read: 1, write: 2, admin: 3 };
const rankOf = (level: string | undefined): number => (level === undefined ? 0 : (rank[level] ?? 3));

/** `administration: write` and so on, by name. */
export function surplus({ permissions }: Pick<AppAtGithub, "permissions">): readonly string[] {
  return Object.entries(permissions)
    .filter(
      ([name, level]) =>
        rankOf(level) > rankOf(Object.hasOwn(neededPermissions, name) ? neededPermissions[name] : undefined),
    )
    .map(([name, level]) => `${name}: ${level}`)
    .sort();
}

export function lacking({ permissions }: Pick<InstallationAtGithub, "permissions">): readonly string[] {
  return Object.entries(neededPermissions)
    .filter(([name, level]) => rankOf(permissions[name]) < rankOf(level))
    .map(([name, level]) => `${name}: ${level}`);
}

/** What is no reason to refuse. */
export function missing({ events, suspendedAt }: InstallationAtGithub): readonly string[] {
  return [
    ...neededEvents.filter((name) => !events.includes(name)).map((name) => `event ${name}`),
    ...(suspendedAt === undefined ? [] : [`the installation is suspended since ${suspendedAt}`]),
  ];
}
