import { Consumer, type Message, MessagesStreamModes, stringDeserializers } from '@platformatic/kafka';
import { randomText } from '../../runtime/ids.ts';

type Read = Message<string, string, string, string>;

/** Every message that a topic holds now. A partition's messages are in order. */
export async function readTopic(broker: string, topic: string, each?: (message: Read) => void): Promise<Read[]> {
  const consumer = new Consumer({
    clientId: 'test',
    groupId: `read-${randomText(8)}`,
    bootstrapBrokers: [broker],
    deserializers: stringDeserializers,
    autocommit: false,
  });
  const ends = (await consumer.listOffsets({ topics: [topic], timestamp: -1n })).get(topic) ?? [];
  let left = Number(ends.reduce((sum, end) => sum + end, 0n));
  const found: Read[] = [];
  if (left > 0) {
    const stream = await consumer.consume({ topics: [topic], mode: MessagesStreamModes.EARLIEST, autocommit: false });
    for await (const message of stream) {
      if (each) each(message);
      else found.push(message);
      if (--left === 0) break;
    }
    await stream.close();
  }
  await consumer.close(true);
  return found;
}
