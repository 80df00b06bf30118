/** Which names `global_variable` may have. One list for the API, which refuses the others, and for the builder. */

/** A part of JavaScript's identifiers, in classes of characters that tools for JSON Schema know. With \p{ID_Start} they made no request. */
export const IDENTIFIER = '^[$_\\p{Lu}\\p{Ll}\\p{Lo}][$_\\p{Lu}\\p{Ll}\\p{Lo}\\p{Nd}]*$';

const KEYWORDS =
  'await break case catch class const continue debugger default delete do else enum export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield';
/**
 * Names of the language and the browser that a page or the collector relies on. Taking one of them breaks the page (`location`
 * would load it again without end) or leaves the collector out of reach (`window` keeps what it is).
 */
const LANGUAGE =
  'arguments eval globalThis undefined NaN Infinity __proto__ constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf Array ArrayBuffer BigInt Boolean DataView Date Error Function Intl JSON Map Math Number Object Promise Proxy Reflect RegExp Set String Symbol Temporal WeakMap WeakRef WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent isFinite isNaN parseFloat parseInt';
const BROWSER =
  'window self document location top parent frames opener frameElement name status closed length event origin external history navigator screen performance crypto customElements visualViewport devicePixelRatio isSecureContext localStorage sessionStorage cookieStore caches indexedDB trustedTypes scheduler console chrome AbortController AbortSignal Blob CustomEvent Document Element Event EventTarget FormData Headers Image Node Request Response URL URLSearchParams WebSocket Window Worker XMLHttpRequest addEventListener removeEventListener dispatchEvent alert atob btoa blur cancelAnimationFrame clearInterval clearTimeout close confirm fetch focus getComputedStyle matchMedia open postMessage print prompt queueMicrotask requestAnimationFrame requestIdleCallback scroll scrollBy scrollTo setInterval setTimeout stop structuredClone';

export const TAKEN_NAMES: readonly string[] = `${KEYWORDS} ${LANGUAGE} ${BROWSER}`.split(' ');
export const NAME_FAULT = "must be a JavaScript identifier of letters, digits, _ and $, and no name of the language's or the browser's own";

export function isGlobalName(name: string): boolean {
  return new RegExp(IDENTIFIER, 'u').test(name) && !TAKEN_NAMES.includes(name);
}
