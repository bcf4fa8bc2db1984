import type { SecretBinding } from "../protocol/api/secrets";

/**
 * A binding says where a secret may be sent: to an origin, and optionally only with certain paths
 * and methods. Before a request with a secret is sent, the request is checked against the secret's
 * bindings.
 */

/** A request that contains a secret. If `method` is `null`, only the origin is checked. */
export type SecretUse = { url: string; method: string | null };

/** Returns the value of a secret if it may be sent with this request; otherwise `undefined`. */
export type SecretOf = (
  name: string,
  use: SecretUse,
) => string | undefined | Promise<string | undefined>;

/** Whether a request may contain a secret with these bindings. */
export function maySend(bindings: readonly SecretBinding[], { url, method }: SecretUse): boolean {
  const { origin, pathname } = new URL(url);
  return bindings.some(
    (binding) =>
      binding.origin === origin &&
      (method === null ||
        (allowsMethod(binding, method) &&
          (binding.paths?.some((path) => isWithin(path, pathname)) ?? true))),
  );
}

/**
 * Whether at least one address that begins with `url` may receive the secret. The address of a tool
 * in a config is checked in this way, because arguments complete its path later.
 */
export function maySendBelow(
  bindings: readonly SecretBinding[],
  { url, method }: SecretUse & { method: string },
): boolean {
  const { origin, pathname } = new URL(url);
  return bindings.some(
    (binding) =>
      binding.origin === origin &&
      allowsMethod(binding, method) &&
      (binding.paths?.some((path) => isWithin(path, pathname) || path.startsWith(pathname)) ??
        true),
  );
}

const allowsMethod = ({ methods }: SecretBinding, method: string): boolean =>
  methods?.some((allowed) => allowed === method.toUpperCase()) ?? true;

/** A server may decode a path several times. This many decodings are checked. */
const MAX_DECODINGS = 3;

/**
 * Whether a path is equal to `base` or below it, segment by segment. A server may decode escapes,
 * treat backslashes as slashes, or remove parameters after a semicolon. The path must be within
 * `base` in each of these interpretations.
 */
function isWithin(base: string, pathname: string): boolean {
  const [baseSegments, decodedBase] = [
    segmentsOf(base),
    segmentsOf(interpretationsOf(base).at(-1) ?? base),
  ];
  return interpretationsOf(pathname).every((interpretation) => {
    const segments = segmentsOf(interpretation);
    return (
      !segments.includes("..") &&
      baseSegments.every((segment, index) =>
        [segment, decodedBase[index]].includes(segments[index]),
      )
    );
  });
}

/** The segments of a path. Empty segments, from double or trailing slashes, are ignored. */
const segmentsOf = (path: string): string[] =>
  path
    .split(/[/\\]/)
    .map((segment) => segment.split(";", 1)[0] ?? "")
    .filter((segment) => segment !== "" && segment !== ".");

/** The path as it is, and after each decoding that changes it. */
function interpretationsOf(pathname: string): string[] {
  const interpretations = [pathname];
  for (let nth = 0; nth < MAX_DECODINGS; nth += 1) {
    const last = interpretations.at(-1) ?? "";
    const decodedPath = last.replace(/(?:%[0-9a-f]{2})+/gi, decodeEscapes);
    if (decodedPath === last) return interpretations;
    interpretations.push(decodedPath);
  }
  // The path still contains escapes, so the server's interpretation is unknown: `/..` is refused.
  return /%[0-9a-f]{2}/i.test(interpretations.at(-1) ?? "")
    ? [...interpretations, "/.."]
    : interpretations;
}

/**
 * Decodes escapes. Bytes that are not UTF-8 become `/../`, which is refused: some servers decode
 * such bytes to a dot or slash.
 */
function decodeEscapes(escapes: string): string {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return "/../";
  }
}

/** The bindings as text for users, such as `POST https://api.example.com/v1`. */
export const describeBindings = (bindings: readonly SecretBinding[]): string =>
  bindings
    .flatMap(({ origin, paths, methods }) =>
      (paths ?? [""]).map((path) => `${methods ? `${methods.join("+")} ` : ""}${origin}${path}`),
    )
    .join(", ");
