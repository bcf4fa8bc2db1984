import type { SecretBinding } from "../protocol/api/secrets";

/**
 * Restricts where secrets may be sent. A binding names an origin, and optionally paths and methods.
 * Every request with a secret is checked against the secret's bindings before it is sent. Pure.
 */

/** A request with a secret. With `method: null`, only the origin is checked. */
export type SecretUse = { url: string; method: string | null };

/** The secret's value if it may be sent there; `undefined` otherwise. */
export type SecretOf = (
  name: string,
  use: SecretUse,
) => string | undefined | Promise<string | undefined>;

/** Whether a request may carry a secret with these bindings. */
export function maySend(bindings: readonly SecretBinding[], { url, method }: SecretUse): boolean {
  const { origin, pathname } = new URL(url);
  return bindings.some(
    (binding) =>
      binding.origin === origin &&
      (method === null ||
        (allowsMethod(binding, method) &&
          (binding.paths?.some((path) => isBelow(path, pathname)) ?? true))),
  );
}

/**
 * The same for the prefix of an address, for configs in which arguments complete the path: whether
 * some address with this prefix may get the secret.
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
      (binding.paths?.some((path) => isBelow(path, pathname) || path.startsWith(pathname)) ?? true),
  );
}

const allowsMethod = ({ methods }: SecretBinding, method: string): boolean =>
  methods?.some((one) => one === method.toUpperCase()) ?? true;

/** A server may decode a path several times. */
const MOST_DECODINGS = 3;

/**
 * Whether a path is equal to or below another, segment by segment. Checks every reading that a
 * server may use: decoded escapes, backslashes as slashes, parameters after a semicolon removed.
 * False if any reading leaves the base path.
 */
function isBelow(base: string, pathname: string): boolean {
  const [wanted, decoded] = [segmentsOf(base), segmentsOf(readingsOf(base).at(-1) ?? base)];
  return readingsOf(pathname).every((reading) => {
    const segments = segmentsOf(reading);
    return (
      !segments.includes("..") &&
      wanted.every((one, nth) => [one, decoded[nth]].includes(segments[nth]))
    );
  });
}

/** Empty segments, from doubled or trailing slashes, are ignored. */
const segmentsOf = (path: string): string[] =>
  path
    .split(/[/\\]/)
    .map((segment) => segment.split(";", 1)[0] ?? "")
    .filter((segment) => segment !== "" && segment !== ".");

function readingsOf(pathname: string): string[] {
  const readings = [pathname];
  for (let nth = 0; nth < MOST_DECODINGS; nth += 1) {
    const last = readings.at(-1) ?? "";
    const decoded = last.replace(/(?:%[0-9a-f]{2})+/gi, decodeEscapes);
    if (decoded === last) return readings;
    readings.push(decoded);
  }
  // Still contains escapes: the server's reading is unknown, so refuse.
  return /%[0-9a-f]{2}/i.test(readings.at(-1) ?? "") ? [...readings, "/.."] : readings;
}

/**
 * Bytes that are not UTF-8 count as a traversal: a lenient server may decode them to a dot or
 * slash.
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
