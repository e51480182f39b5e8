// The addresses of the desks: each desk is loaded when it is first opened, and all its state is in its query.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { About } from "./about.tsx";
import { type DeskName, desks } from "./desk-list.ts";
import { Frame } from "./frame/frame.tsx";
import { lastPath } from "./frame/last-desk.ts";
import { LaterPage } from "./later-page.tsx";
import { readSearch } from "./model/search.ts";

const pages: Partial<Record<DeskName, ReturnType<typeof lazyRouteComponent>>> = {
  risk: lazyRouteComponent(() => import("./risk/risk-page.tsx"), "RiskPage"),
  funds: lazyRouteComponent(() => import("./funds/funds-page.tsx"), "FundsPage"),
  signals: lazyRouteComponent(() => import("./signals/signals-page.tsx"), "SignalsPage"),
  replay: lazyRouteComponent(() => import("./replay/replay-page.tsx"), "ReplayPage"),
  matrix: lazyRouteComponent(() => import("./matrix/matrix-page.tsx"), "MatrixPage"),
  ops: lazyRouteComponent(() => import("./ops/ops-page.tsx"), "OpsPage"),
};

export function createDeskRouter() {
  const root = createRootRoute({ component: Frame, notFoundComponent: NoSuchPage });
  const home = createRoute({
    getParentRoute: () => root,
    path: "/",
    beforeLoad: () => {
      throw redirect({ to: lastPath(), replace: true } as Parameters<typeof redirect>[0]);
    },
  });
  const about = createRoute({ getParentRoute: () => root, path: "/about", component: About });
  const opened = desks.map(({ name, path }) =>
    createRoute({
      getParentRoute: () => root,
      path,
      validateSearch: readSearch,
      component: pages[name] ?? LaterPage,
    }),
  );
  return createRouter({
    routeTree: root.addChildren([home, about, ...opened]),
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search) => {
      const query = new URLSearchParams(readSearch(search) as Record<string, string>).toString();
      return query === "" ? "" : `?${query}`;
    },
    defaultPreload: false,
  });
}

function NoSuchPage() {
  return <p className="note">There is no such page. The desks are above.</p>;
}
