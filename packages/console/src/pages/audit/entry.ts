export interface Entry {
  id: string;
  user_email: string | null;
  action: string;
  resource_type: string;
  resource_id: string | null;
  changes: Record<string, { old?: unknown; new?: unknown }>;
  ip_address: string | null;
  timestamp: string;
}
