/**
 * Whether the host name of a parsed URL is not public: loopback, private, link-local, multicast,
 * reserved, or an internal name. The URL parser has already normalised IPv4 numbers (`0x7f.1`,
 * `2130706433`) and the zeros of IPv6. The function does not resolve names.
 */
export function isPrivateHost(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.+$/, "");
  if (name.startsWith("[")) return isPrivateV6(name.slice(1, -1));
  if (/^\d+\.\d+\.\d+\.\d+$/.test(name)) return isPrivateV4(name.split(".").map(Number));
  return !name.includes(".") || INTERNAL_NAMES.test(name);
}

/** Whether the host is the loopback interface of this machine. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

const INTERNAL_NAMES =
  /\.(localhost|local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa|test|invalid|example|onion)$/;

/** Blocks that are not public: the first octets, and the number of fixed bits. */
const V4_BLOCKS: readonly (readonly [readonly number[], number])[] = [
  [[0], 8],
  [[10], 8],
  [[100, 64], 10],
  [[127], 8],
  [[169, 254], 16],
  [[172, 16], 12],
  [[192, 0, 0], 24],
  [[192, 0, 2], 24],
  [[192, 88, 99], 24],
  [[192, 168], 16],
  [[198, 18], 15],
  [[198, 51, 100], 24],
  [[203, 0, 113], 24],
  [[224], 3],
];

function isPrivateV4(octets: readonly number[]): boolean {
  return V4_BLOCKS.some(
    ([prefix, bits]) => toNumber(octets) >>> (32 - bits) === toNumber(prefix) >>> (32 - bits),
  );
}

function toNumber(octets: readonly number[]): number {
  return [0, 1, 2, 3].reduce((sum, index) => sum * 256 + (octets[index] ?? 0), 0);
}

/** Only global unicast (2000::/3) is public, without its blocks for tunnels and documentation. */
function isPrivateV6(address: string): boolean {
  const groups = expandV6(address);
  const [first = 0, second = 0] = groups;
  // This also refuses ::1, ::ffff:a.b.c.d, 64:ff9b::, fc00::/7, fe80::/10 and ff00::/8.
  if (first >>> 13 !== 1) return true;
  if (first === 0x3fff && second < 0x1000) return true;
  return first === 0x2002 || (first === 0x2001 && (second < 0x200 || second === 0xdb8));
}

function expandV6(address: string): number[] {
  const [head = "", tail] = address.split("::");
  const parse = (part: string) =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  const [left, right] = [parse(head), parse(tail ?? "")];
  return [...left, ...Array<number>(Math.max(0, 8 - left.length - right.length)).fill(0), ...right];
}
