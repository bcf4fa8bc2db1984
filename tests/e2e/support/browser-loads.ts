/**
 * What a browser does with a response, by its headers alone: the rules of the Fetch standard
 * ("should response to request be blocked due to nosniff", "cross-origin resource policy check")
 * and of CSP (`frame-ancestors`, `sandbox`).
 */

/** JavaScript MIME types of the MIME Sniffing standard. */
const SCRIPT_TYPES = new Set([
  "application/ecmascript",
  "application/javascript",
  "application/x-ecmascript",
  "application/x-javascript",
  "text/ecmascript",
  "text/javascript",
  "text/javascript1.0",
  "text/javascript1.1",
  "text/javascript1.2",
  "text/javascript1.3",
  "text/javascript1.4",
  "text/javascript1.5",
  "text/jscript",
  "text/livescript",
  "text/x-ecmascript",
  "text/x-javascript",
]);
/** Types that a module script may import besides JavaScript. */
const isModuleData = (type: string): boolean =>
  type === "application/wasm" ||
  type === "text/css" ||
  /^(application|text)\/(.*\+)?json$/.test(type);

/** Ways in which a page may use a response. `true`: the browser blocks it. */
export function blockedLoads(headers: Headers): Record<string, boolean> {
  const type = (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const isTypeFinal = headers.get("x-content-type-options")?.trim().toLowerCase() === "nosniff";
  const policy = (headers.get("content-security-policy") ?? "")
    .split(";")
    .map((part) => part.trim());
  const isDownload = /^attachment\b/.test(headers.get("content-disposition") ?? "");
  return {
    "as a script of this origin": isTypeFinal && !SCRIPT_TYPES.has(type) && !isModuleData(type),
    "as a style of this origin": isTypeFinal && type !== "text/css",
    "in a frame": isDownload || policy.includes("frame-ancestors 'none'"),
    "as any resource of another origin":
      headers.get("cross-origin-resource-policy") === "same-origin",
    // `sandbox` without flags gives the document an opaque origin and forbids scripts.
    "as a document with the service's origin":
      isTypeFinal && policy.includes("sandbox") && policy.includes("default-src 'none'"),
  };
}
