// What the gateway does for the repository bot; a part of the list in gateway-operations.ts, which says how each is declared.
export const githubbotOperations = {
  ReceiveGithubDelivery: {
    sentence: "Send a delivery of GitHub's; the signature over its bytes is the proof.",
    allowed: "anyone",
    reads: false,
    repeatable: true,
    whose: ["anyone"],
    // A bad signature is charged once it is found to be one (edges/gateway/githubbot/forgeries.ts), a good one never.
    withoutToken: { share: "alert", cost: 0 },
    routes: {
      receiveGithubDelivery: "public POST /githubbot/webhook",
    },
  },
  InstallGithubbot: {
    sentence: "Install the repository bot in an organisation, or give it another key.",
    allowed: ["admin"],
    reads: false,
    auditsRefusals: true,
    routes: {
      installGithubbot: "operator POST /v1/githubbot/install",
    },
  },
  UninstallGithubbot: {
    sentence: "Take the repository bot away, with its key and secrets.",
    allowed: ["admin"],
    reads: false,
    tightens: "always",
    auditsRefusals: true,
    routes: {
      uninstallGithubbot: "operator POST /v1/githubbot/uninstall",
    },
  },
  PauseGithubbot: {
    sentence: "Keep the repository bot from writing, in one repository or in all.",
    allowed: ["operator", "risk_officer", "admin"],
    reads: false,
    tightens: "always",
    repeatable: true,
    auditsRefusals: true,
    routes: {
      pauseGithubbot: "operator POST /v1/githubbot/pause",
    },
  },
  ResumeGithubbot: {
    sentence: "Let the repository bot write again, in one repository or in all.",
    allowed: ["operator", "risk_officer", "admin"],
    reads: false,
    repeatable: true,
    auditsRefusals: true,
    routes: {
      resumeGithubbot: "operator POST /v1/githubbot/resume",
    },
  },
  ReadGithubbot: {
    sentence: "See how the repository bot stands, what it did, why it did not act, and what it spent.",
    allowed: ["operator", "risk_officer", "admin"],
    reads: true,
    routes: {
      getGithubbotStatus: "operator GET /v1/githubbot/status",
      listGithubbotRuns: "operator GET /v1/githubbot/runs",
      getGithubbotRun: "operator GET /v1/githubbot/runs/:run_id",
      listGithubbotDeliveries: "operator GET /v1/githubbot/deliveries",
      getGithubbotBudget: "operator GET /v1/githubbot/budget",
    },
  },
} as const;
