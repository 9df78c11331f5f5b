package grpc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"

	"longhaul/internal/test"
)

// raw is a codec that leaves answers as they come.
type raw struct{ encoding.CodecV2 }

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// The same answer is the same bytes, also if it has maps.
func TestAnswers_sameBytes(t *testing.T) {
	s := newService(t)
	id := s.send(t, "m", "write").GetId()
	seen := map[string]bool{}
	for range 50 {
		var answer []byte
		err := s.conn.Invoke(with(t), a2apb.A2AService_GetTask_FullMethodName, &a2apb.GetTaskRequest{Id: id}, &answer,
			grpc.ForceCodecV2(raw{encoding.GetCodecV2("proto")}))
		test.OK(t, err)
		seen[string(answer)] = true
	}
	test.Is(t, "50 answers have forms", 1, len(seen))
}

// Tools find out what the server has by reflection.
func TestReflection(t *testing.T) {
	s := newService(t)
	stream := test.Value(grpc_reflection_v1.NewServerReflectionClient(s.conn).ServerReflectionInfo(t.Context()))(t)
	ask := func(req *grpc_reflection_v1.ServerReflectionRequest) *grpc_reflection_v1.ServerReflectionResponse {
		t.Helper()
		test.OK(t, stream.Send(req))
		answer := test.Value(stream.Recv())(t)
		return answer
	}
	var names []string
	list := ask(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{}})
	for _, service := range list.GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	want := "[grpc.health.v1.Health grpc.reflection.v1.ServerReflection lf.a2a.v1.A2AService]"
	test.Is(t, "services", want, fmt.Sprint(names))
	file := ask(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_FileContainingSymbol{
		FileContainingSymbol: a2apb.A2AService_ServiceDesc.ServiceName,
	}})
	if files := file.GetFileDescriptorResponse().GetFileDescriptorProto(); len(files) == 0 || !strings.Contains(string(files[0]), "SendStreamingMessage") {
		t.Errorf("the description of A2A is %v", file)
	}
	test.OK(t, stream.CloseSend())
}
