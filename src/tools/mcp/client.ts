import { lazy } from "../../async/lazy";

/** What needs the SDK of the protocol. It is loaded with the first request to a tool server. */
export const clientPart = lazy(() => import("./client-part"));
