import { add } from './add.ts';
import { adobeProducts } from './adobe-products.ts';
import { base64 } from './base64.ts';
import { canonicalEmail } from './canonical-email.ts';
import { count } from './count.ts';
import { countryCode } from './country-code.ts';
import { currencyAmount } from './currency-amount.ts';
import { currencyCode } from './currency-code.ts';
import type { Transform } from './define.ts';
import { digitsOnly } from './digits-only.ts';
import { divide } from './divide.ts';
import { entries } from './entries.ts';
import { fbcFromClickId } from './fbc-from-click-id.ts';
import { fillMissing } from './fill-missing.ts';
import { first } from './first.ts';
import { flatten } from './flatten.ts';
import { formatTime } from './format-time.ts';
import { gaClientId } from './ga-client-id.ts';
import { gaSessionId } from './ga-session-id.ts';
import { gaStreamSession } from './ga-stream-session.ts';
import { ga4Name } from './ga4-name.ts';
import { ga4Params } from './ga4-params.ts';
import { ga4UserProperties } from './ga4-user-properties.ts';
import { googleDatetime } from './google-datetime.ts';
import { itemCount } from './item-count.ts';
import { join } from './join.ts';
import { jsonParse } from './json-parse.ts';
import { jsonStringify } from './json-stringify.ts';
import { last } from './last.ts';
import { lowercase } from './lowercase.ts';
import { md5 } from './md5.ts';
import { minorUnits } from './minor-units.ts';
import { multiply } from './multiply.ts';
import { multiplyFields } from './multiply-fields.ts';
import { normalizeCity } from './normalize-city.ts';
import { normalizeDate } from './normalize-date.ts';
import { normalizeEmail } from './normalize-email.ts';
import { normalizeGender } from './normalize-gender.ts';
import { normalizeGmail } from './normalize-gmail.ts';
import { normalizeName } from './normalize-name.ts';
import { normalizePhone } from './normalize-phone.ts';
import { normalizePhoneDigits } from './normalize-phone-digits.ts';
import { normalizeState } from './normalize-state.ts';
import { normalizeZip } from './normalize-zip.ts';
import { omit } from './omit.ts';
import { pick } from './pick.ts';
import { prefix } from './prefix.ts';
import { prefixKeys } from './prefix-keys.ts';
import { replace } from './replace.ts';
import { round } from './round.ts';
import { sha1 } from './sha1.ts';
import { sha256 } from './sha256.ts';
import { snakeCase } from './snake-case.ts';
import { split } from './split.ts';
import { stableClientId } from './stable-client-id.ts';
import { stringValues } from './string-values.ts';
import { subtract } from './subtract.ts';
import { suffix } from './suffix.ts';
import { sum } from './sum.ts';
import { sumProduct } from './sum-product.ts';
import { take } from './take.ts';
import { toBoolean } from './to-boolean.ts';
import { toInteger } from './to-integer.ts';
import { toIso8601 } from './to-iso8601.ts';
import { toList } from './to-list.ts';
import { toNumber } from './to-number.ts';
import { toText } from './to-string.ts';
import { toUnixMicros } from './to-unix-micros.ts';
import { toUnixMillis } from './to-unix-millis.ts';
import { toUnixSeconds } from './to-unix-seconds.ts';
import { trim } from './trim.ts';
import { truncate } from './truncate.ts';
import { unique } from './unique.ts';
import { uppercase } from './uppercase.ts';
import { urlEncode } from './url-encode.ts';
import { urlHost } from './url-host.ts';
import { urlParam } from './url-param.ts';
import { urlPath } from './url-path.ts';

/** All transforms, in the order of the documentation. A test fails if one is missing here. */
export const TRANSFORM_GROUPS: Readonly<Record<string, readonly Transform[]>> = {
  Text: [
    lowercase,
    uppercase,
    trim,
    truncate,
    replace,
    prefix,
    suffix,
    split,
    snakeCase,
    digitsOnly,
    urlEncode,
    base64,
    jsonStringify,
    jsonParse,
  ],
  Hashes: [sha256, sha1, md5],
  Times: [toUnixSeconds, toUnixMillis, toUnixMicros, toIso8601, formatTime, googleDatetime],
  'Types and numbers': [toNumber, toInteger, toText, toBoolean, round, add, subtract, multiply, divide, minorUnits, currencyAmount],
  'Persons and places': [
    normalizeEmail,
    normalizeGmail,
    canonicalEmail,
    normalizePhone,
    normalizePhoneDigits,
    normalizeName,
    normalizeCity,
    normalizeZip,
    normalizeState,
    normalizeGender,
    normalizeDate,
    countryCode,
    currencyCode,
  ],
  URLs: [urlHost, urlPath, urlParam],
  'Lists and objects': [
    join,
    first,
    last,
    count,
    sum,
    sumProduct,
    itemCount,
    multiplyFields,
    unique,
    take,
    toList,
    fillMissing,
    flatten,
    pick,
    omit,
    prefixKeys,
    entries,
    stringValues,
  ],
  Vendors: [ga4Name, ga4Params, ga4UserProperties, gaClientId, gaSessionId, gaStreamSession, stableClientId, fbcFromClickId, adobeProducts],
};

export const TRANSFORMS: ReadonlyMap<string, Transform> = new Map(
  Object.values(TRANSFORM_GROUPS)
    .flat()
    .map((transform) => [transform.name, transform]),
);
