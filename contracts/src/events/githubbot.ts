// What the repository bot and the gateway tell of it. One entry an event: subject, payload, order, publishers and what the audit log says of it.
import {
  type BotBudgetReached,
  botAdvisoryPublished,
  botBudgetReached,
  botReleasePublished,
  botRunEnded,
  githubbotInstalled,
  githubbotPaused,
  githubbotUninstalled,
} from "../records/githubbot.ts";
import { event, type OneOf, requestedBy } from "./event.ts";

const byRepository = (of: { readonly repository: string }): string => of.repository;
const byOrganisation = (of: { readonly org: string }): string => of.org;
const byBots = (): string => "service:bots";

const budgetAction: OneOf<BotBudgetReached> = {
  actions: ["githubbot.budget_reached", "githubbot.budget_exhausted"],
  of: ({ percent }) => (percent === 100 ? "githubbot.budget_exhausted" : "githubbot.budget_reached"),
};

export const githubbotEvents = {
  githubbotInstalled: event({
    subject: "svc.v1.bots.githubbot.installed",
    schema: githubbotInstalled,
    key: byOrganisation,
    sentence: "The repository bot was installed in an organisation, or its key and secret were changed.",
    publishers: ["gateway"],
    audit: { action: "githubbot.installed", about: byOrganisation, by: requestedBy },
  }),
  githubbotUninstalled: event({
    subject: "svc.v1.bots.githubbot.uninstalled",
    schema: githubbotUninstalled,
    key: byOrganisation,
    sentence: "The repository bot was taken away; its key and secrets are deleted.",
    publishers: ["gateway"],
    audit: { action: "githubbot.uninstalled", about: byOrganisation, by: requestedBy },
  }),
  githubbotPaused: event({
    subject: "svc.v1.bots.githubbot.paused",
    schema: githubbotPaused,
    key: byRepository,
    sentence: "The repository bot writes nothing any more, in one repository or in all.",
    publishers: ["gateway"],
    audit: { action: "githubbot.paused", about: byRepository, by: requestedBy },
  }),
  githubbotResumed: event({
    subject: "svc.v1.bots.githubbot.resumed",
    schema: githubbotPaused,
    key: byRepository,
    sentence: "The repository bot may write again, in one repository or in all.",
    publishers: ["gateway"],
    audit: { action: "githubbot.resumed", about: byRepository, by: requestedBy },
  }),
  botRunEnded: event({
    subject: "svc.v1.bots.run.ended",
    schema: botRunEnded,
    key: byRepository,
    sentence: "A run of the repository bot ended: what it did, or why it did not act.",
    publishers: ["bots"],
    // Whoever asked is known at GitHub and not to us.
    audit: { action: "githubbot.run_ended", about: ({ run_id }) => run_id, by: byBots },
  }),
  botBudgetReached: event({
    subject: "svc.v1.bots.budget.reached",
    schema: botBudgetReached,
    key: byRepository,
    sentence: "A half, three quarters, nine tenths or all of what the bot may spend in a day is used.",
    publishers: ["bots"],
    audit: { action: budgetAction, about: byRepository, by: byBots },
  }),
  botReleasePublished: event({
    subject: "svc.v1.bots.release.published",
    schema: botReleasePublished,
    key: byRepository,
    sentence: "A release was published at GitHub.",
    publishers: ["bots"],
    audit: { notAudited: "It happened at GitHub, and changes nothing here." },
  }),
  botAdvisoryPublished: event({
    subject: "svc.v1.bots.advisory.published",
    schema: botAdvisoryPublished,
    key: byRepository,
    sentence: "An advisory about a weakness of a repository was published at GitHub.",
    publishers: ["bots"],
    audit: { notAudited: "It happened at GitHub, and changes nothing here." },
  }),
};
