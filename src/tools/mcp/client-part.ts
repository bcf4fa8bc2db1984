export { UrlElicitationRequiredError } from "@modelcontextprotocol/client";
export { Connection } from "./connection";
export { toFailure } from "./to-failure";
