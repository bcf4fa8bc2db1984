import type { Chance } from "../../simulated/chance";

/** US dollars per million tokens. */
export type DrawnPrice = { input: number; output: number };

/**
 * Random prices of `count` models. They range from a hundredth of the cheapest real price to more
 * than the highest real price.
 */
export function drawPrices(chance: Chance, count: number): Map<string, DrawnPrice> {
  const prices = Array.from({ length: count }, (_, nth): [string, DrawnPrice] => {
    const input = 10 ** (-3 + chance.unit() * 5);
    return [`random-price-${nth + 1}`, { input, output: input * (1 + chance.unit() * 9) }];
  });
  return new Map(prices);
}
