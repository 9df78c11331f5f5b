// The codec of a Longhaul with --payload-keys; see docs/executors.md.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Payload, PayloadCodec } from '@temporalio/common';

const proto: typeof import('@temporalio/proto') = createRequire(import.meta.url)('@temporalio/proto');
const { Payload: message } = proto.temporal.api.common.v1;

// payloadCodec returns the codec for keys in the form of LONGHAUL_PAYLOAD_KEYS: the first
// encrypts, all decrypt.
export function payloadCodec(setting: string): PayloadCodec {
  const keys = new Map(setting.split(',').map((text) => Buffer.from(text.trim(), 'base64')).map((key) => [idOf(key), key]));
  const [first, key] = [...keys][0]!;
  return {
    async encode(payloads) {
      return payloads.map((payload) => {
        const nonce = randomBytes(12);
        const cipher = createCipheriv('aes-256-gcm', key, nonce);
        const text = [cipher.update(message.encode(payload).finish()), cipher.final(), cipher.getAuthTag()];
        return { metadata: { encoding: Buffer.from('binary/encrypted'), 'encryption-key-id': Buffer.from(first) }, data: Buffer.concat([nonce, ...text]) };
      });
    },
    async decode(payloads) {
      return payloads.map((payload) => (read(payload, 'encoding') === 'binary/encrypted' ? decrypt(payload, keys) : payload));
    },
  };
}

function decrypt(payload: Payload, keys: Map<string, Buffer>): Payload {
  const id = read(payload, 'encryption-key-id');
  const [key, data] = [keys.get(id), Buffer.from(payload.data ?? [])];
  if (!key) throw new Error(`LONGHAUL_PAYLOAD_KEYS has no key ${id}`);
  const cipher = createDecipheriv('aes-256-gcm', key, data.subarray(0, 12)).setAuthTag(data.subarray(-16));
  return message.decode(Buffer.concat([cipher.update(data.subarray(12, -16)), cipher.final()]));
}

function idOf(key: Buffer): string {
  return createHash('sha256').update('longhaul key id ').update(key).digest('hex').slice(0, 16);
}

function read(payload: Payload, name: string): string {
  return Buffer.from(payload.metadata?.[name] ?? []).toString();
}
