/** Card numbers by issuer range, length and Luhn digit; bank accounts by country length and the ISO 7064 check. */
export function isCardNumber(digits: string): boolean {
  return issuerKnows(digits) && luhn(digits);
}

/** Without this, one in ten of all long order numbers and times would pass for a card. */
function issuerKnows(digits: string): boolean {
  const { length } = digits;
  const two = Number(digits.slice(0, 2));
  const four = Number(digits.slice(0, 4));
  if (digits[0] === '4') return length === 13 || length === 16 || length === 19; // Visa
  if ((two >= 51 && two <= 55) || (four >= 2221 && four <= 2720)) return length === 16; // Mastercard
  if (two === 34 || two === 37) return length === 15; // American Express
  if (two === 36 || two === 38 || two === 39 || (four >= 3000 && four <= 3059)) return length >= 14 && length <= 19; // Diners
  if (four >= 3528 && four <= 3589) return length >= 16; // JCB
  if (two === 62 || two === 81) return length >= 16; // UnionPay
  if (four === 6011 || two === 65 || (four >= 6440 && four <= 6499)) return length >= 16; // Discover
  if (two === 50 || (two >= 56 && two <= 69)) return length >= 16; // Maestro
  return false;
}

function luhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    let digit = digits.charCodeAt(digits.length - 1 - i) - 48;
    if (i % 2 === 1) digit = digit > 4 ? digit * 2 - 9 : digit * 2;
    sum += digit;
  }
  return sum % 10 === 0;
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

/** `compact` is upper case without spaces and of its country's length. */
export function ibanChecks(compact: string): boolean {
  let remainder = 0;
  for (let i = 0; i < compact.length; i++) {
    const code = compact.charCodeAt((i + 4) % compact.length);
    const value = code >= 65 ? code - 55 : code - 48;
    remainder = (value > 9 ? remainder * 100 + value : remainder * 10 + value) % 97;
  }
  return remainder === 1;
}
