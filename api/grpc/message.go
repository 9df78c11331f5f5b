package grpc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	"longhaul/api/call"
)

// How messages are read.
const (
	readWithin      = 30 * time.Second // a message of a caller who is known
	smallMessage    = 4 << 10          // bytes that need no share
	bytesAtOnce     = 64 << 20         // of all larger messages that are being read; more if MaxMessage needs it
	readAtOnce      = 1 << 20          // bytes that a sender may send ahead
	anonymousWithin = 5 * time.Second  // a message of a caller of health or reflection
	anonymousMost   = smallMessage     // bytes of it
)

// streamed returns a service whose methods with one answer are streams to gRPC, which calls
// the interceptor of a stream before it reads the message.
func streamed(desc grpc.ServiceDesc) *grpc.ServiceDesc {
	all := append([]grpc.StreamDesc{}, desc.Streams...)
	for _, m := range desc.Methods {
		all = append(all, grpc.StreamDesc{StreamName: m.MethodName, Handler: func(srv any, to grpc.ServerStream) error {
			reply, err := m.Handler(srv, to.Context(), to.RecvMsg, nil)
			if err != nil {
				return err
			}
			if err := to.SendMsg(reply); err != nil && to.Context().Err() == nil {
				return fmt.Errorf("send the answer: %w", err)
			}
			return nil
		}})
	}
	desc.Methods, desc.Streams = nil, all
	return &desc
}

// incoming is the stream of gRPC itself, which can be asked for the size of a message before the
// message is read. It is no public interface: if grpc-go changes it, every call fails, and so do
// the tests.
type incoming interface {
	ReadMessageHeader(header []byte) error
	Read(n int) (mem.BufferSlice, error)
	RecvCompress() string
}

// An intake reads the messages of a stream. What a sender makes it hold is limited before it is
// read: a message has a time in which it must arrive, and larger ones need a share.
type intake struct {
	grpc.ServerStream
	codec  encoding.CodecV2
	most   int // bytes of a message
	within time.Duration
	many   bool // the client may send more than one message
	shares *call.Shares
	user   string // of the shares
}

// RecvMsg implements [grpc.ServerStream].
func (s *intake) RecvMsg(m any) error {
	read := make(chan error, 1)
	go func() { read <- s.read(m) }() // it ends with the stream at the latest
	late := time.NewTimer(s.within)
	defer late.Stop()
	select {
	case err := <-read:
		return err
	case <-late.C:
		return errLate
	}
}

// Faults of messages.
var (
	errLate    = &call.Fault{Kind: call.InvalidRequest, Message: "The message did not arrive in time"}
	errLarge   = &call.Fault{Kind: call.RateLimited, Message: "The message is too large"}
	errMessage = &call.Fault{Kind: call.InvalidRequest, Message: "The call needs exactly one message that can be read"}
)

// read reads the next message into m. It returns io.EOF if there is none.
func (s *intake) read(m any) error {
	in, ok := grpc.ServerTransportStreamFromContext(s.Context()).(incoming)
	if !ok {
		return errors.New("gRPC has changed: its streams do not show the size of messages")
	}
	var header [5]byte
	if err := in.ReadMessageHeader(header[:]); err != nil {
		return s.readError(err)
	}
	compressed, size := header[0] != 0, int(binary.BigEndian.Uint32(header[1:]))
	if size > s.most {
		return errLarge
	}
	needs := size
	if compressed {
		needs = s.most
	}
	if needs > smallMessage {
		share := s.shares.Of(s.user, needs)
		if err := share.Await(s.Context(), needs); err != nil {
			return err
		}
		defer share.Release()
	}
	body := make([]byte, 0, size)
	for len(body) < size {
		data, err := in.Read(min(readAtOnce, size-len(body)))
		if err != nil {
			return s.readError(err)
		}
		for _, b := range data {
			body = append(body, b.ReadOnlyData()...)
		}
		data.Free()
	}
	if compressed {
		var err error
		if body, err = s.decompress(in.RecvCompress(), body); err != nil {
			return err
		}
	}
	if err := s.codec.Unmarshal(mem.BufferSlice{mem.SliceBuffer(body)}, m); err != nil {
		return errMessage
	}
	if !s.many && in.ReadMessageHeader(header[:]) != io.EOF {
		return errMessage
	}
	return nil
}

// readError returns the error for one of gRPC in reading a message.
func (s *intake) readError(err error) error {
	if s.Context().Err() == nil && !(s.many && err == io.EOF) {
		return errMessage
	}
	return err
}

// decompress returns a body that was sent with an encoding.
func (s *intake) decompress(name string, body []byte) ([]byte, error) {
	c := encoding.GetCompressor(name)
	if c == nil {
		return nil, errMessage
	}
	r, err := c.Decompress(bytes.NewReader(body))
	if err != nil {
		return nil, errMessage
	}
	whole, err := io.ReadAll(io.LimitReader(r, int64(s.most)+1))
	switch {
	case err != nil:
		return nil, errMessage
	case len(whole) > s.most:
		return nil, errLarge
	}
	return whole, nil
}

// anonymously serves a stream of a service that does not authenticate its callers. Such streams
// are few, and one on which the client may send more than one message does not last.
func (s *Server) anonymously(srv any, to grpc.ServerStream, many bool, user string, handler grpc.StreamHandler) error {
	release, ok := s.anonymous.Take(user, 1)
	if !ok {
		return failure(call.TooMany(time.Second))
	}
	defer release()
	in := &intake{ServerStream: to, codec: s.codec, most: anonymousMost, within: anonymousWithin, many: many, shares: s.bytes}
	if !many {
		return asStatus(handler(srv, in))
	}
	served := make(chan error, 1)
	go func() { served <- handler(srv, in) }() // it ends with the stream at the latest
	late := time.NewTimer(2 * anonymousWithin)
	defer late.Stop()
	select {
	case err := <-served:
		return asStatus(err)
	case <-late.C:
		return status.Error(codes.DeadlineExceeded, "The stream is open for too long")
	}
}

// asStatus returns err as a status, for callers of the standard services.
func asStatus(err error) error {
	if fault, ok := errors.AsType[*call.Fault](err); ok {
		return failure(fault)
	}
	return err
}
