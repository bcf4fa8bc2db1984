/**
 * Ports of the tool servers that runs use. A service must know the exact origin of each tool server from its start, and every case has
 * servers of its own, so they share a known range below that of outgoing connections.
 */
const FIRST = 29_900;
const COUNT = 90;
const PORTS = Array.from({ length: COUNT }, (_, nth) => FIRST + nth);

/** For `ALLOWED_TOOL_ORIGINS`. */
export const TOOL_ORIGINS: readonly string[] = PORTS.map((port) => `http://127.0.0.1:${port}`);

let next = 0;

/** The ports to try, in order: each call begins behind the last, so that a port rests before it is used again. */
export function toolPorts(): number[] {
  const from = next++ % COUNT;
  return [...PORTS.slice(from), ...PORTS.slice(0, from)];
}
