/** Card numbers by issuer range, length and Luhn digit; bank accounts by country length and the ISO 7064 check. */
export const MIN_CARD_DIGITS = 13;
export const MAX_CARD_DIGITS = 19;

/** Bit n is set where the issuer of these first four digits uses numbers of n digits. 0: no issuer has this range. */
export function cardLengths(digits: ArrayLike<number>): number {
  const two = digit(digits, 0) * 10 + digit(digits, 1);
  const four = two * 100 + digit(digits, 2) * 10 + digit(digits, 3);
  // Without the issuer ranges one in ten of all long order numbers and timestamps would pass for a card.
  if (digit(digits, 0) === 4) return (1 << 13) | (1 << 16) | (1 << 19); // Visa
  if ((two >= 51 && two <= 55) || (four >= 2221 && four <= 2720)) return 1 << 16; // Mastercard
  if (two === 34 || two === 37) return 1 << 15; // American Express
  if (two === 36 || two === 38 || two === 39 || (four >= 3000 && four <= 3059)) return FROM_14; // Diners
  if (four >= 3528 && four <= 3589) return FROM_16; // JCB
  if (two === 62 || two === 81) return FROM_16; // UnionPay
  if (four === 6011 || two === 65 || (four >= 6440 && four <= 6499)) return FROM_16; // Discover
  if (two === 50 || (two >= 56 && two <= 69)) return FROM_16; // Maestro
  return 0;
}
const FROM_16 = (1 << 16) | (1 << 17) | (1 << 18) | (1 << 19);
const FROM_14 = (1 << 14) | (1 << 15) | FROM_16;

export function luhn(digits: ArrayLike<number>, count: number): boolean {
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const value = digit(digits, count - 1 - i);
    sum += i % 2 === 0 ? value : value > 4 ? value * 2 - 9 : value * 2;
  }
  return sum % 10 === 0;
}

function digit(digits: ArrayLike<number>, at: number): number {
  return digits[at] ?? 0;
}

// Country code and total length, from the IBAN registry.
const IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 ' +
    'FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 ' +
    'MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 ' +
    'SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

export function ibanLength(country: string): number | undefined {
  return IBAN_LENGTHS.get(country);
}

/** `compact` is upper case, without spaces, and as long as its country requires. */
export function ibanChecks(compact: string): boolean {
  let remainder = 0;
  for (let i = 0; i < compact.length; i++) {
    const code = compact.charCodeAt((i + 4) % compact.length);
    const value = code >= 65 ? code - 55 : code - 48;
    remainder = (value > 9 ? remainder * 100 + value : remainder * 10 + value) % 97;
  }
  return remainder === 1;
}
