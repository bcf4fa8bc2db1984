import type { App } from "../api-env";
import { ticketRoutes } from "../keys/tickets";
import { diffRoutes } from "./diff/diff-route";
import { eventRoutes } from "./events";
import { queueRoutes } from "./queue";
import { runRoutes } from "./runs";
import { sessionFileRoutes } from "./session-file-routes";
import { sessionListRoutes } from "./session-list";
import { statusRoutes } from "./sessions";
import { turnChangeRoutes } from "./turn-changes";
import { headRoutes } from "./turn-tree";

/** All routes of sessions and their turns. */
export function sessionRoutes(app: App): void {
  runRoutes(app);
  sessionListRoutes(app);
  statusRoutes(app);
  sessionFileRoutes(app);
  turnChangeRoutes(app);
  diffRoutes(app);
  headRoutes(app);
  queueRoutes(app);
  ticketRoutes(app);
  eventRoutes(app);
}
