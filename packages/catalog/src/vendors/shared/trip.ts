/** Dates, places and travellers of a trip, as the travel catalogues of Meta and Snap name them. */
import type { JsonObject } from '@firsthand/core/json.ts';
import { into } from './mapping.ts';

export function tripLines(object: string): JsonObject[] {
  const to = into(object);
  return [
    to(['properties.check_in', 'properties.checkin_date'], 'checkin_date'),
    to('properties.departure_date', 'departing_departure_date'),
    to('properties.return_date', 'returning_departure_date'),
    to('properties.origin', 'origin_airport'),
    to('properties.destination', 'destination_airport'),
    to('properties.city', 'city'),
    to('properties.region', 'region'),
    to('properties.country', 'country'),
    to(['properties.adults', 'properties.num_adults', 'properties.guests'], 'num_adults', ['to_integer']),
    to(['properties.children', 'properties.num_children'], 'num_children', ['to_integer']),
  ];
}
