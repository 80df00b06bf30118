/**
 * Constants that the builder writes into the bundle (esbuild `define`). Flags are literals, so a disabled feature costs no
 * bytes. User input arrives as JSON data, never as code.
 */
declare const F_CONSENT: boolean;
declare const F_GATE: boolean;
declare const F_VENDOR_IDS: boolean;
declare const F_CROSS_DOMAIN: boolean;
declare const F_VARIABLES: boolean;
declare const F_CLIENT_SIDE: boolean;

declare const P_ONETRUST: boolean;
declare const P_COOKIEBOT: boolean;
declare const P_USERCENTRICS: boolean;
declare const P_DIDOMI: boolean;
declare const P_OSANO: boolean;
declare const P_TCF: boolean;
declare const P_GOOGLE: boolean;
declare const P_CUSTOM: boolean;

declare const C_KEY: string;
declare const C_GLOBAL: string;
/** Empty: the origin of the script. */
declare const C_INGEST_URL: string;
declare const C_WAIT_MS: number;
declare const C_REQUIRED: import('./types.ts').Category;
declare const C_VENDOR_IDS: import('./types.ts').VendorIds[];
declare const C_DOMAINS: string[];
declare const C_VARIABLES: import('./types.ts').Variable[];
/** JSON text, parsed at run time: faster than an object literal, and `__proto__` stays a plain key. */
declare const C_CLIENT_SIDE: string;

/** See build/limits.ts. */
declare const L_QUEUE_EVENTS: number;
declare const L_QUEUE_CHARS: number;
declare const L_TRIM_EVERY: number;
declare const L_BATCH_EVENTS: number;
declare const L_BATCH_CHARS: number;
declare const L_KEEPALIVE_CHARS: number;
declare const L_TIMEOUT_MS: number;
declare const L_LATE_MS: number;
declare const L_UNCLEAR_MS: number;
declare const L_ADOPT_MS: number;
declare const L_CUT_MS: number;
declare const L_RETRY_BASE_MS: number;
declare const L_RETRY_MAX_MS: number;
declare const L_ASKED_MAX_MS: number;
declare const L_HELD_EVENTS: number;
